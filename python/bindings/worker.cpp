// _core.Worker: calls in flight for an event loop, on a thread that never takes the GIL.
#include "worker.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "released_gil.hpp"
#include "rows.hpp"

namespace tradingdata::python {

namespace {

py::tuple events_as_python(Events events) {
  py::list outcomes;
  for (Outcome& outcome : events.outcomes) {
    const CallId id = outcome.id;
    outcomes.append(py::make_tuple(id, std::make_shared<Outcome>(std::move(outcome))));
  }
  py::list retries;
  for (const RetryRecord& retry : events.retries) {
    retries.append(py::make_tuple(retry.call, retry.attempt, retry.reason, retry.delay));
  }
  return py::make_tuple(retries, outcomes);
}

}  // namespace

CallId Port::submit(Call call) {
  const CallId id = call.id;
  worker.submit(std::move(call));  // waits for nothing, so the GIL may stay
  return id;
}

void bind_worker(py::module_& module) {
  py::class_<Outcome, std::shared_ptr<Outcome>>(module, "Outcome", py::is_final())
      .def("result", [](const Outcome& self) { return as_python(fetched(self)); });
  py::class_<Port, std::unique_ptr<Port>>(module, "Worker", py::is_final())
      .def(py::init<std::shared_ptr<Client>>(), py::arg("client"))
      .def(
          "submit_book",
          [](Port& self, const std::string& record, std::optional<double> timeout) {
            return self.submit(self.client->book(*row_type_given(py::str(record)).schema, timeout));
          },
          py::arg("record"), py::arg("timeout"))
      .def(
          "cancel", [](Port& self, CallId id) { self.worker.cancel(id); }, py::arg("id"))
      .def("notification_fd", [](const Port& self) { return self.worker.notification_fd(); })
      .def("take", [](Port& self) { return events_as_python(self.worker.take()); })
      .def(
          "wait",
          [](Port& self, double patience) {
            Events events;
            {
              const ReleasedGil released;
              events = self.worker.wait(from_seconds(patience));
            }
            return events_as_python(std::move(events));
          },
          py::arg("patience"))
      .def("close", [](Port& self) {
        const ReleasedGil released;
        self.worker.close();
      });
}

}  // namespace tradingdata::python
