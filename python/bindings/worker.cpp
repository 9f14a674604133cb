// _core.Worker: calls in flight for an event loop, on a thread that never takes the GIL.
#include "tradingdata/worker.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "client.hpp"
#include "released_gil.hpp"
#include "rows.hpp"

namespace tradingdata::python {

namespace {

// What a call came to: (id, result, None), or (id, None, the exception to raise).
py::tuple outcome_as_python(Outcome outcome) {
  const CallId id = outcome.id;
  try {
    return py::make_tuple(id, as_python(fetched(std::move(outcome))), py::none());
  } catch (const Error& error) {
    return py::make_tuple(id, py::none(), python_error(error));
  } catch (const std::bad_alloc&) {
    return py::make_tuple(id, py::none(), py::handle(PyExc_MemoryError)());
  }
}

py::tuple events_as_python(Events events) {
  py::list outcomes;
  for (Outcome& outcome : events.outcomes) outcomes.append(outcome_as_python(std::move(outcome)));
  py::list retries;
  for (const RetryRecord& retry : events.retries) {
    retries.append(py::make_tuple(retry.call, retry.attempt, retry.reason, retry.delay));
  }
  return py::make_tuple(retries, outcomes);
}

// The worker and the client that makes its calls.
struct Port {
  explicit Port(std::shared_ptr<Client> owner) : client(std::move(owner)), worker(client) {}

  CallId submit(Call call) {
    const CallId id = call.id;
    const ReleasedGil released;  // the core knows nothing of Python
    worker.submit(std::move(call));
    return id;
  }

  std::shared_ptr<Client> client;
  Worker worker;
};

}  // namespace

void bind_worker(py::module_& module) {
  py::class_<Port, std::unique_ptr<Port>>(module, "Worker", py::is_final())
      .def(py::init<std::shared_ptr<Client>>(), py::arg("client"))
      .def("submit_book", [](Port& self, const std::string& record, std::optional<double> timeout) {
             return self.submit(self.client->book(*row_type_named(record)->schema, timeout));
           }, py::arg("record"), py::arg("timeout"))
      .def("submit_search", [](Port& self, const std::string& query, std::int64_t page,
                               std::int64_t limit, std::optional<double> timeout) {
             return self.submit(self.client->search(query, page, limit, timeout));
           }, py::arg("query"), py::arg("page"), py::arg("limit"), py::arg("timeout"))
      .def("cancel", [](Port& self, CallId id) { self.worker.cancel(id); }, py::arg("id"))
      .def("notification_fd", [](const Port& self) { return self.worker.notification_fd(); })
      .def("take", [](Port& self) { return events_as_python(self.worker.take()); })
      .def("wait", [](Port& self, double patience) {
             Events events;
             {
               const ReleasedGil released;
               events = self.worker.wait(from_seconds(patience));
             }
             return events_as_python(std::move(events));
           }, py::arg("patience"))
      .def("close", [](Port& self) {
        const ReleasedGil released;
        self.worker.close();
      });
}

}  // namespace tradingdata::python
