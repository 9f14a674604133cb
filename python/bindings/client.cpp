// _core.Client and its ports: calls on the caller's thread, which Ctrl-C can leave, or in flight
// for an event loop, on a thread that never takes the GIL.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "bindings.hpp"
#include "client/port.hpp"
#include "rows.hpp"
#include "slice.hpp"
#include "values.hpp"

namespace tradingdata::python {

using namespace py::literals;

namespace {

// (table, status_code, attempts, elapsed, received_at, served_at)
py::tuple as_python(const Outcome& outcome) {
  if (outcome.error) std::rethrow_exception(outcome.error);
  const auto& served = outcome.served_at;
  return py::make_tuple(whole_slice(outcome.table), outcome.status_code, outcome.attempts,
                        outcome.elapsed, utc_datetime(outcome.received_at),
                        served ? utc_datetime(*served * micros_per_second) : py::none());
}

// One that a fork separated from its thread is leaked, since it cannot be destroyed.
std::shared_ptr<Worker> make_worker(std::shared_ptr<Client> client) {
  return {new Worker(std::move(client)), [](Worker* worker) {
            if (worker->has_thread()) delete worker;
          }};
}

CallId submit(Port& self, Call call) {
  return released([&] { return self.submit(std::move(call)); });
}

CallId submit_book(Port& self, const std::string& record, std::optional<double> timeout,
                   std::string account) {
  const Schema& schema = *row_type_given(py::str(record)).schema;
  return submit(self, self.client().book(schema, timeout, std::move(account)));
}

CallId submit_search(Port& self, const std::string& query, std::int64_t page, std::int64_t limit,
                     std::optional<double> timeout, bool ahead) {
  return submit(self, self.client().search(query, page, limit, timeout, ahead));
}

// Puts outcomes into a dict by their call: an exception of a signal handler that runs as soon as a
// function has returned would lose its result. Returns (call, attempt, reason, delay) for each
// retry.
py::list wait(Port& self, double patience, const py::dict& outcomes) {
  Events events = released([&] { return self.wait(from_seconds(patience)); });
  for (Outcome& outcome : events.outcomes) {
    const py::int_ id(outcome.id);
    outcomes[id] = std::make_shared<Outcome>(std::move(outcome));
  }
  py::list retries;
  for (const RetryRecord& retry : events.retries) {
    retries.append(
        py::make_tuple(retry.call, retry.attempt, shown_text(retry.reason), retry.delay));
  }
  return retries;
}

// Python documents and validates the options. They are taken by name here, since an error of
// pybind11 would show their values, which may be secret.
std::shared_ptr<Client> make_client(const py::kwargs& given) {
  ClientOptions options;
  double connect_timeout = 0;
  std::size_t known = 0;
  const auto take = [&]<typename Option>(const char* name, Option& option) {
    py::detail::make_caster<Option> value;
    constexpr bool converts = !std::is_same_v<Option, bool>;  // of any object
    if (!given.contains(name) || !value.load(given[name], converts)) {
      throw py::type_error(std::string("the option ") + name + " is missing or of another type");
    }
    option = py::detail::cast_op<Option>(std::move(value));
    ++known;
  };
  take("base_url", options.base_url);
  take("timeout", options.timeout);
  take("connect_timeout", connect_timeout);
  take("attempts", options.engine.retry.attempts);
  take("rate_limit", options.engine.rate_limit);
  take("proxy", options.proxy);
  take("trust_env", options.trust_env);
  take("ca_file", options.curl.ca_file);
  take("ca_pem", options.curl.ca_pem);
  take("ca_folders", options.curl.ca_folders);
  take("max_body", options.curl.max_body);
  take("strict", options.strict);
  take("keep_personal_data", options.keep_personal_data);
  if (given.size() != known) throw py::type_error("there is no such option");
  options.engine.connect_timeout = from_seconds(connect_timeout);
  options.curl.user_agent = "tradingdata/" TRADINGDATA_VERSION;
  return std::make_shared<Client>(std::move(options));
}

}  // namespace

void bind_client(py::module_& module) {
  py::class_<RateLimit, std::shared_ptr<RateLimit>>(module, "RateLimit", py::is_final())
      .def(py::init<double, int>(), py::arg("per_second"), py::arg("burst"))
      .def_property_readonly("per_second", &RateLimit::per_second)
      .def_property_readonly("burst", &RateLimit::burst);
  py::class_<Client, std::shared_ptr<Client>>(module, "Client", py::is_final())
      .def(py::init(&make_client))
      .def("set_token", &Client::set_token, py::arg("token"))
      .def("clear_token", &Client::clear_token)
      .def_property_readonly("has_token", &Client::has_token)
      .def_property_readonly("closed", &Client::closed)
      .def_property_readonly("base_url", [](const Client& self) { return self.options().base_url; })
      .def("close", &Client::close);
  module.def("transport_version", &transport_version);
  module.def(
      "end_all_calls",
      [](double patience) { released([&] { end_all_calls(from_seconds(patience)); }); },
      py::arg("patience"));
  py::class_<Outcome, std::shared_ptr<Outcome>>(module, "Outcome", py::is_final())
      .def("result", [](const Outcome& self) { return as_python(self); });
  py::class_<Port, std::shared_ptr<Port>>(module, "Port")
      .def("submit_book", &submit_book, py::arg("record"), py::arg("timeout"),
           py::arg("account") = "")
      .def("submit_search", &submit_search, py::arg("query"), py::arg("page"), py::arg("limit"),
           py::arg("timeout"), py::arg("ahead"))
      .def("wait", &wait, py::arg("patience"), py::arg("outcomes"))
      .def("close", [](Port& self) { released([&] { self.close(); }); });
  py::class_<LocalPort, Port, std::shared_ptr<LocalPort>>(module, "LocalPort", py::is_final())
      .def(py::init<std::shared_ptr<Client>>(), py::arg("client"));
  py::class_<Worker, Port, std::shared_ptr<Worker>>(module, "Worker", py::is_final())
      .def(py::init(&make_worker), py::arg("client"))
      .def(
          "cancel", [](Worker& self, CallId id) { released([&] { self.cancel(id); }); },
          py::arg("id"))
      .def("notification_fd", &Worker::notification_fd);
}

}  // namespace tradingdata::python
