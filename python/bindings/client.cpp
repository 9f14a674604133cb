// _core.Client: one call at a time on the caller's thread, which Ctrl-C can leave.
#include "client.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "bindings.hpp"
#include "released_gil.hpp"
#include "rows.hpp"
#include "slice.hpp"

namespace tradingdata::python {

py::tuple as_python(Fetched fetched) {
  return py::make_tuple(whole_slice(std::move(fetched.table)), fetched.status_code,
                        fetched.attempts, fetched.elapsed, fetched.received_at);
}

namespace {

std::shared_ptr<BlockingCall> book(const std::shared_ptr<Client>& self, const std::string& record,
                                   std::optional<double> timeout) {
  Call call = self->book(*row_type_given(py::str(record)).schema, timeout);
  const ReleasedGil released;
  return std::make_shared<BlockingCall>(self, std::move(call));
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
  const double pace = or_park([&] { return PyFloat_AsDouble(per_second); });
  if (pace == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  int overflow = 0;
  const long count =
      burst == nullptr ? 1 : or_park([&] { return PyLong_AsLongAndOverflow(burst, &overflow); });
  if (count == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  constexpr long most = std::numeric_limits<int>::max();
  const long clamped = overflow > 0 ? most : std::clamp(count, 0L, most);
  return std::make_shared<RateLimit>(pace, static_cast<int>(clamped));
}

using Slot = std::variant<bool*, int*, std::int64_t*, double*, Duration*, std::string*,
                          std::optional<std::string>*, std::shared_ptr<RateLimit>*>;

// Where each option of the Python client is stored; Python documents and validates them.
constexpr std::pair<const char*, Slot (*)(ClientOptions&)> option_slots[] = {
    {"base_url", [](ClientOptions& o) { return Slot(&o.base_url); }},
    {"timeout", [](ClientOptions& o) { return Slot(&o.timeout); }},
    {"connect_timeout", [](ClientOptions& o) { return Slot(&o.connect_timeout); }},
    {"attempts", [](ClientOptions& o) { return Slot(&o.retry.attempts); }},
    {"rate_limit", [](ClientOptions& o) { return Slot(&o.rate_limit); }},
    {"proxy", [](ClientOptions& o) { return Slot(&o.proxy); }},
    {"trust_env", [](ClientOptions& o) { return Slot(&o.trust_env); }},
    {"ca_file", [](ClientOptions& o) { return Slot(&o.ca_file); }},
    {"max_body", [](ClientOptions& o) { return Slot(&o.max_body); }},
    {"strict", [](ClientOptions& o) { return Slot(&o.strict); }},
    {"keep_personal_data", [](ClientOptions& o) { return Slot(&o.keep_personal_data); }},
};

void store(Slot slot, const py::handle& value) {
  std::visit(
      [&](auto* target) {
        if constexpr (std::is_same_v<decltype(target), Duration*>) {
          *target = from_seconds(value.cast<double>());
        } else {
          *target = value.cast<std::remove_pointer_t<decltype(target)>>();
        }
      },
      slot);
}

std::shared_ptr<Client> make_client(const py::kwargs& given) {
  ClientOptions options;
  for (const auto& [name, slot] : option_slots) store(slot(options), given[name]);
  if (given.size() != std::size(option_slots)) throw py::type_error("an option has no slot");
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
      .def(py::init(&make_client))
      .def("set_token", &Client::set_token, py::arg("token"))
      .def("clear_token", &Client::clear_token)
      .def_property_readonly("has_token", &Client::has_token)
      .def_property_readonly("closed", &Client::closed)
      .def_property_readonly("base_url", [](const Client& self) { return self.options().base_url; })
      .def("book", &book, py::arg("record"), py::arg("timeout"))
      .def("stats", &stats)
      .def("close", &Client::close);
  py::class_<BlockingCall, std::shared_ptr<BlockingCall>>(module, "BlockingCall", py::is_final())
      .def("wait",
           [](BlockingCall& self) {
             return wait_in_slices(self, [](const auto& fetched) { return fetched.has_value(); });
           })
      .def("close", [](BlockingCall& self) {
        const ReleasedGil released;
        self.cancel();
      });
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
