// The one place where the core's errors become Python's, whose classes are in tradingdata.errors;
// and the functions that the package hands over when it is imported.
#include <array>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/platform.hpp"
#include "base/time.hpp"
#include "bindings.hpp"
#include "values.hpp"

namespace tradingdata::python {

namespace {

// In the order of ErrorKind.
constexpr std::array class_names{
    "ConfigurationError", "TransportError",      "ConnectError",      "TLSError",
    "DeadlineError",      "CallCancelledError",  "ClientClosedError", "StatusError",
    "BadRequestError",    "AuthenticationError", "NotFoundError",     "RateLimitError",
    "ServerError",        "ServiceError",        "DecodeError"};
constexpr std::size_t kinds = class_names.size();
static_assert(kinds == static_cast<std::size_t>(ErrorKind::decode) + 1);

// Those of the first copy of the package that was imported, for as long as the process lives.
std::array<PyTypeObject*, kinds> classes;
PyObject* module_of_classes = nullptr;

// Takes over the classes of tradingdata.errors, unless it has some, and returns their module. A
// second copy of the package shares this module, so it must share the classes too: otherwise its
// `except` would miss them.
py::object errors_of(const py::object& errors) {
  if (module_of_classes == nullptr) {
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      PyObject* const type = attribute(errors, class_names[kind]).release().ptr();
      classes[kind] = reinterpret_cast<PyTypeObject*>(type);
    }
    module_of_classes = Py_NewRef(errors.ptr());
  }
  return py::reinterpret_borrow<py::object>(module_of_classes);
}

// Every class that the core can raise, by the names in tradingdata.errors.
py::list error_classes() {
  py::list names;
  for (const char* const name : class_names) names.append(name);
  return names;
}

// What is known of the call, by the names of the error's attributes.
py::dict facts_of(const Error& error) {
  py::dict facts;
  if (error.status_code != 0) facts["status_code"] = error.status_code;
  facts["attempts"] = error.attempts;
  facts["elapsed"] = error.elapsed;
  facts["retryable"] = error.retryable;
  facts["passing"] = error.passing;
  if (error.retry_after) facts["retry_after"] = *error.retry_after;
  if (error.served_at) {
    facts["_served_at"] = utc_datetime(*error.served_at * micros_per_second);
  }
  if (error.offset) facts["offset"] = *error.offset;
  if (!error.path.empty()) facts["path"] = shown_text(error.path);
  if (!error.service_message.empty()) facts["service_message"] = shown_text(error.service_message);
  if (!error.body.empty()) facts["body"] = shown_text(error.body, true);
  return facts;
}

#if PY_VERSION_HEX < 0x030C0000
// Until 3.11, any new object may start a collection, and that runs finalizers.
class CollectionPaused {
 public:
  CollectionPaused() : was_enabled_(PyGC_Disable()) {}
  CollectionPaused(const CollectionPaused&) = delete;
  CollectionPaused& operator=(const CollectionPaused&) = delete;
  ~CollectionPaused() {
    if (was_enabled_ != 0) PyGC_Enable();
  }

 private:
  int was_enabled_;
};
#else
struct CollectionPaused {};
#endif

// A daemon thread's call that the end of the process interrupts reports no error: its traceback
// would be printed at every exit, and CPython aborts if a thread that it ended held stderr's lock.
// The process mostly ends in this wait; a thread that an exit handler joins gets its error then.
void await_end_of_process() {
  if (!detail::ending || detail::ends_process) return;
  const ReleasedGil released;
  std::this_thread::sleep_for(std::chrono::seconds(1));
}

// Sets Python's error without running any Python code, because C++ is handling an exception: the
// error is allocated by its class's constructor in C. What is not known of the call, its class has.
void set_python_error(const Error& error) {
  [[maybe_unused]] const CollectionPaused paused;
  PyTypeObject* const type = classes[static_cast<std::size_t>(error.kind)];
  const py::tuple message = py::make_tuple(shown_text(error.text()));
  const py::object made = owned(type->tp_new(type, message.ptr(), nullptr));
  const auto set = [&](py::handle name, py::handle value) {
    if (PyObject_GenericSetAttr(made.ptr(), name.ptr(), value.ptr()) != 0) {
      throw py::error_already_set();
    }
  };
  set(py::str("args"), message);
  for (const auto& [name, value] : facts_of(error)) set(name, value);
  PyErr_SetObject(reinterpret_cast<PyObject*>(type), made.ptr());
}

// Keeps the functions that the package hands over when it is imported.

constexpr std::array function_names{"frozen", "no_attribute", "no_field", "read_extra",
                                    "zone_of_record"};
std::array<PyObject*, function_names.size()> functions;  // for as long as the process lives

void hand_over(const py::kwargs& given) {
  for (std::size_t i = 0; i < function_names.size(); ++i) {
    PyObject* const function = PyDict_GetItemString(given.ptr(), function_names[i]);
    if (function == nullptr)
      throw py::type_error(std::string("hand_over needs ") + function_names[i]);
    Py_XSETREF(functions[i], Py_NewRef(function));
  }
}

}  // namespace

py::object printable(const py::object& text, bool keep_lines) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(text.ptr());
  std::u32string shown;
  for (Py_ssize_t i = 0; i < length; ++i) {
    const Py_UCS4 character = PyUnicode_READ_CHAR(text.ptr(), i);
    if (Py_UNICODE_ISPRINTABLE(character) ||
        (keep_lines && (character == '\n' || character == '\t'))) {
      shown += static_cast<char32_t>(character);
    } else {
      const py::object one = owned(PyUnicode_Substring(text.ptr(), i, i + 1));
      const py::object escape = owned(PyUnicode_AsUnicodeEscapeString(one.ptr()));
      shown.append(PyBytes_AS_STRING(escape.ptr()),
                   PyBytes_AS_STRING(escape.ptr()) + PyBytes_GET_SIZE(escape.ptr()));
    }
  }
  if (static_cast<Py_ssize_t>(shown.size()) == length) return text;
  return owned(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, shown.data(),
                                         static_cast<Py_ssize_t>(shown.size())));
}

py::object shown_text(std::string_view text, bool keep_lines) {
  return printable(
      owned(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")),
      keep_lines);
}

py::handle handed_over(Function function) {
  return functions[static_cast<std::size_t>(function)];
}

void bind_errors(py::module_& module) {
  module.def("hand_over", &hand_over);
  module.def("error_classes", &error_classes);
  module.def("errors_of", &errors_of, py::arg("errors"));
  module.def(
      "printable", [](const py::str& text) { return printable(text, false); }, py::arg("text"));
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      await_end_of_process();
      try {
        set_python_error(error);
      } catch (py::error_already_set& other) {  // pybind11 would replace what is thrown here
        other.restore();
      }
    }
  });
}

}  // namespace tradingdata::python
