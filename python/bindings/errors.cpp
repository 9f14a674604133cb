// The one place where the core's errors become Python's; the classes are in tradingdata.errors.
#include <exception>
#include <string_view>

#include "base/error.hpp"
#include "bindings.hpp"

namespace tradingdata::python {

namespace {

const char* class_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::configuration: return "ConfigurationError";
    case ErrorKind::transport: return "TransportError";
    case ErrorKind::connect: return "ConnectError";
    case ErrorKind::tls: return "TLSError";
    case ErrorKind::deadline: return "DeadlineError";
    case ErrorKind::cancelled: return "CallCancelledError";
    case ErrorKind::closed: return "ClientClosedError";
    case ErrorKind::status: return "StatusError";
    case ErrorKind::bad_request: return "BadRequestError";
    case ErrorKind::authentication: return "AuthenticationError";
    case ErrorKind::not_found: return "NotFoundError";
    case ErrorKind::rate_limit: return "RateLimitError";
    case ErrorKind::server: return "ServerError";
    case ErrorKind::service: return "ServiceError";
    case ErrorKind::decode: return "DecodeError";
    case ErrorKind::pagination: return "PaginationError";
  }
  return "TradingDataError";
}

// Every class that the core can raise, by the names in tradingdata.errors.
py::list error_classes() {
  py::list names;
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::pagination); ++kind) {
    names.append(class_of(static_cast<ErrorKind>(kind)));
  }
  return names;
}

// Text of the wire may be cut anywhere; an error must still be raised with it.
py::object text_of(std::string_view text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

}  // namespace

py::object python_error(const Error& error) {
  py::dict details;
  if (error.status_code != 0) details["status_code"] = error.status_code;
  if (error.hint.code != nullptr) details["hint"] = error.hint.code;
  details["attempts"] = error.attempts;
  details["elapsed"] = error.elapsed;
  details["retryable"] = error.retryable;
  if (error.retry_after) details["retry_after"] = *error.retry_after;
  if (error.page) details["page"] = *error.page;
  if (error.offset) details["offset"] = *error.offset;
  if (!error.path.empty()) details["path"] = text_of(error.path);
  if (!error.service_message.empty()) details["service_message"] = text_of(error.service_message);
  if (!error.body.empty()) details["body"] = text_of(error.body);
  const py::module_ errors = py::module_::import("tradingdata.errors");
  return errors.attr(class_of(error.kind))(text_of(error.what()), **details);
}

void bind_errors(py::module_& module) {
  module.def("error_classes", &error_classes);
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      // pybind11 would replace what is raised here, such as Ctrl-C, by RuntimeError.
      try {
        const py::object raised = python_error(error);
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
      } catch (py::error_already_set& other) {
        other.restore();
      }
    }
  });
}

}  // namespace tradingdata::python
