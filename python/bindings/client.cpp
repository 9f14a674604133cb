// _core.Client: one call at a time on the caller's thread, which Ctrl-C can leave.
#include "client.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "released_gil.hpp"
#include "rows.hpp"
#include "slice.hpp"

namespace tradingdata::python {

py::tuple as_python(Fetched fetched) {
  return py::make_tuple(whole_slice(std::move(fetched.table)), fetched.status_code,
                        fetched.attempts, fetched.elapsed, fetched.received_at);
}

Waiting waiting_in_python(const py::object& on_retry) {
  Waiting waiting;
  waiting.on_slice = check_signals;
  if (!on_retry.is_none()) {
    // Held by the caller for as long as the call runs.
    waiting.on_retry = [hook = on_retry.ptr()](const RetryRecord& record) {
      const py::gil_scoped_acquire acquired;
      const py::handle callable(hook);
      callable(record.attempt, record.reason, record.delay);
    };
  }
  return waiting;
}

namespace {

py::tuple run(Client& client, Call call, const py::object& on_retry) {
  const Waiting waiting = waiting_in_python(on_retry);
  Fetched fetched;
  {
    const ReleasedGil released;  // the core knows nothing of Python; `waiting` takes the GIL itself
    fetched = client.run(std::move(call), waiting);
  }
  return as_python(std::move(fetched));
}

py::tuple book(Client& self, const std::string& record, std::optional<double> timeout,
               const py::object& on_retry) {
  return run(self, self.book(*row_type_named(record)->schema, timeout), on_retry);
}

py::dict stats(const Client& self) {
  const Stats& counted = self.stats();
  py::dict result;
  result["calls"] = counted.calls.load();
  result["failures"] = counted.failures.load();
  result["attempts"] = counted.attempts.load();
  result["retries"] = counted.retries.load();
  result["connections"] = counted.connections.load();
  result["reused"] = counted.reused.load();
  result["bytes_sent"] = counted.bytes_sent.load();
  result["bytes_received"] = counted.bytes_received.load();
  return result;
}

// Parsed here, so that Python words the errors for wrong arguments.
std::shared_ptr<RateLimit> make_rate_limit(const py::args& args, const py::kwargs& kwargs) {
  static constexpr const char* names[] = {"per_second", "burst", nullptr};
  PyObject* per_second = nullptr;
  PyObject* burst = nullptr;
  if (PyArg_ParseTupleAndKeywords(args.ptr(), kwargs.ptr(), "O|$O:RateLimit",
                                  const_cast<char**>(names), &per_second, &burst) == 0) {
    throw py::error_already_set();
  }
  const double pace = PyFloat_AsDouble(per_second);
  if (pace == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  int overflow = 0;
  const long count = burst == nullptr ? 1 : PyLong_AsLongAndOverflow(burst, &overflow);
  if (count == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  constexpr long most = std::numeric_limits<int>::max();
  const long clamped = overflow > 0 ? most : std::clamp(count, 0L, most);
  return std::make_shared<RateLimit>(pace, static_cast<int>(clamped));
}

std::shared_ptr<Client> make_client(const std::string& base_url, double timeout,
                                    double connect_timeout, int attempts,
                                    std::shared_ptr<RateLimit> rate_limit,
                                    std::optional<std::string> proxy, bool trust_env,
                                    const std::string& ca_file, std::int64_t max_body, bool strict,
                                    bool keep_personal_data) {
  ClientOptions options;
  options.base_url = base_url;
  options.timeout = timeout;
  options.connect_timeout = connect_timeout;
  options.attempts = attempts;
  options.rate_limit = std::move(rate_limit);
  options.proxy = std::move(proxy);
  options.trust_env = trust_env;
  options.ca_file = ca_file;
  options.max_body = max_body;
  options.strict = strict;
  options.keep_personal_data = keep_personal_data;
  options.user_agent = "tradingdata/" TRADINGDATA_VERSION;
  return std::make_shared<Client>(std::move(options));
}

void bind_rate_limit(py::module_& module) {
  py::options options;
  options.disable_function_signatures();  // that of *args and **kwargs
  py::class_<RateLimit, std::shared_ptr<RateLimit>>(
      module, "RateLimit", py::is_final(),
      "Limits the request rate of one or more clients that share it.\n\n"
      "Calls wait for their turn within their deadline.\n\n"
      "Args:\n"
      "    per_second: Average number of requests per second.\n"
      "    burst: Number of requests that may be sent at once after a pause.\n\n"
      "Raises:\n"
      "    ConfigurationError: ``per_second`` is not above 0, or ``burst`` is below 1.")
      .def(py::init(&make_rate_limit), "__init__(self, per_second: float, *, burst: int = 1)")
      .def_property_readonly("per_second", &RateLimit::per_second,
                             "Average number of requests per second.")
      .def_property_readonly("burst", &RateLimit::burst,
                             "Number of requests that may be sent at once after a pause.")
      .def("__repr__", [](const RateLimit& self) {
        return py::str("RateLimit({:g}, burst={})").format(self.per_second(), self.burst());
      });
}

}  // namespace

void bind_client(py::module_& module) {
  bind_rate_limit(module);
  py::class_<Client, std::shared_ptr<Client>>(module, "Client", py::is_final())
      .def(py::init(&make_client), py::kw_only(), py::arg("base_url"), py::arg("timeout"),
           py::arg("connect_timeout"), py::arg("attempts"), py::arg("rate_limit"), py::arg("proxy"),
           py::arg("trust_env"), py::arg("ca_file"), py::arg("max_body"), py::arg("strict"),
           py::arg("keep_personal_data"))
      .def("set_token", &Client::set_token, py::arg("token"))
      .def("clear_token", &Client::clear_token)
      .def_property_readonly("has_token", &Client::has_token)
      .def_property_readonly("closed", &Client::closed)
      .def_property_readonly("base_url", [](const Client& self) { return self.options().base_url; })
      .def("book", &book, py::arg("record"), py::arg("timeout"), py::arg("on_retry"))
      .def("stats", &stats)
      .def("close", &Client::close);
  module.def("transport_version", &transport_version);
  module.def(
      "end_all_calls",
      [](double patience) {
        const ReleasedGil released;
        end_all_calls(from_seconds(patience));
      },
      py::arg("patience"));
}

}  // namespace tradingdata::python
