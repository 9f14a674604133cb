// _core.Client, Search and Worker: calls on the caller's thread, which Ctrl-C can leave, or in
// flight for an event loop, on a thread that never takes the GIL.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "client/search.hpp"
#include "client/worker.hpp"
#include "rows.hpp"
#include "slice.hpp"

namespace tradingdata::python {

using namespace py::literals;

namespace {

// (table, status_code, attempts, elapsed, received_at in microseconds UTC)
py::tuple as_python(const Outcome& outcome) {
  return py::make_tuple(whole_slice(table_of(outcome)), outcome.status_code, outcome.attempts,
                        outcome.elapsed, outcome.received_at);
}

// The same, and: page, rows to yield, rows dropped
py::tuple as_python(SearchPage page) {
  return as_python(page.outcome) +
         py::make_tuple(page.rows.source.page, std::move(page.rows.rows), page.rows.duplicates);
}

// One slice of a wait, whose caller handles signals and calls its hooks between slices: whether the
// wait is over, its result or None, and the retries, (attempt, reason, delay) each.
template <typename Waited, typename IsOver>
py::tuple wait_in_slices(Waited& waited, const IsOver& is_over) {
  decltype(waited.wait()) result;
  RetryRecords retries;
  {
    const ReleasedGil released;
    result = waited.wait();
    retries = waited.take_retries();
  }
  py::list reported;
  for (const RetryRecord& retry : retries) {
    reported.append(py::make_tuple(retry.attempt, retry.reason, retry.delay));
  }
  const bool over = is_over(result);
  const py::object made = result ? py::object(as_python(std::move(*result))) : py::none();
  return py::make_tuple(over, made, reported);
}

// One that a fork separated from its thread is leaked, since it cannot be destroyed.
std::shared_ptr<Worker> make_worker(std::shared_ptr<Client> client) {
  return {new Worker(std::move(client)), [](Worker* worker) {
            if (worker->has_thread()) delete worker;
          }};
}

std::shared_ptr<BlockingCall> book(const std::shared_ptr<Client>& self, const std::string& record,
                                   std::optional<double> timeout, std::string account) {
  Call call = self->book(*row_type_given(py::str(record)).schema, timeout, std::move(account));
  return released([&] { return std::make_shared<BlockingCall>(self, std::move(call)); });
}

py::dict stats(const Client& self) {
  const Stats& counted = self.stats();
  return py::dict("calls"_a = counted.calls.load(), "failures"_a = counted.failures.load(),
                  "attempts"_a = counted.attempts.load(), "retries"_a = counted.retries.load(),
                  "connections"_a = counted.connections.load(), "reused"_a = counted.reused.load(),
                  "bytes_sent"_a = counted.bytes_sent.load(),
                  "bytes_received"_a = counted.bytes_received.load());
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

// Python documents and validates the options.
std::shared_ptr<Client> make_client(const py::kwargs& given) {
  ClientOptions options;
  std::size_t known = 0;
  const auto take = [&]<typename Option>(const char* name, Option& option) {
    option = given[name].cast<Option>();
    ++known;
  };
  take("base_url", options.base_url);
  take("timeout", options.timeout);
  take("connect_timeout", options.connect_timeout);
  take("attempts", options.retry.attempts);
  take("rate_limit", options.rate_limit);
  take("proxy", options.proxy);
  take("trust_env", options.trust_env);
  take("ca_file", options.ca_file);
  take("max_body", options.max_body);
  take("strict", options.strict);
  take("keep_personal_data", options.keep_personal_data);
  if (given.size() != known) throw py::type_error("there is no such option");
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

// _core.Search: a search over all its pages, on the caller's thread or on a worker's.

py::dict pager_as_python(const Pager& pager) {
  const PagerStats& stats = pager.stats();
  const PagerDoubt doubt = pager.doubt();
  const auto name_if = [](bool known, const char* name) {
    return known ? py::object(py::str(name)) : py::none();
  };
  return py::dict("pages"_a = stats.pages, "items"_a = stats.items,
                  "duplicates"_a = stats.duplicates, "requests"_a = stats.requests,
                  "ended"_a = name_if(pager.ended(), name_of(pager.end())),
                  "doubtful"_a = doubt != PagerDoubt::none,
                  "doubt"_a = name_if(doubt != PagerDoubt::none, name_of(doubt)),
                  "page"_a = pager.page(), "page_size"_a = pager.page_size());
}

std::shared_ptr<Search> make_search(std::shared_ptr<Client> client, const std::string& query,
                                    std::optional<std::int64_t> page_size, std::int64_t start_page,
                                    std::optional<std::int64_t> max_items, std::int64_t prefetch,
                                    std::optional<double> timeout) {
  PagerOptions options;
  options.may_shrink = !page_size;  // a size that the user chose is sent, or refused
  options.page_size = page_size.value_or(options.page_size);
  options.start_page = start_page;
  options.max_items = max_items;
  options.prefetch = prefetch;
  return std::make_shared<Search>(std::move(client), query, options, timeout);
}

std::vector<CallId> submit(Search& self, Worker& worker) {
  std::vector<CallId> ids;
  for (Call& call : self.calls()) ids.push_back(worker.submit(std::move(call)));
  return ids;
}

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

void bind_client(py::module_& module) {
  bind_rate_limit(module);
  py::class_<Client, std::shared_ptr<Client>>(module, "Client", py::is_final())
      .def(py::init(&make_client))
      .def("set_token", &Client::set_token, py::arg("token"))
      .def("clear_token", &Client::clear_token)
      .def_property_readonly("has_token", &Client::has_token)
      .def_property_readonly("closed", &Client::closed)
      .def_property_readonly("base_url", [](const Client& self) { return self.options().base_url; })
      .def("book", &book, py::arg("record"), py::arg("timeout"), py::arg("account") = "")
      .def("stats", &stats)
      .def("close", &Client::close);
  py::class_<BlockingCall, std::shared_ptr<BlockingCall>>(module, "BlockingCall", py::is_final())
      .def("wait",
           [](BlockingCall& self) {
             return wait_in_slices(self, [](const auto& fetched) { return fetched.has_value(); });
           })
      .def("close", [](BlockingCall& self) { released([&] { self.cancel(); }); });
  module.def("transport_version", &transport_version);
  module.def(
      "end_all_calls",
      [](double patience) { released([&] { end_all_calls(from_seconds(patience)); }); },
      py::arg("patience"));
  py::class_<Outcome, std::shared_ptr<Outcome>>(module, "Outcome", py::is_final())
      .def("result", [](const Outcome& self) { return as_python(self); });
  py::class_<Worker, std::shared_ptr<Worker>>(module, "Worker", py::is_final())
      .def(py::init(&make_worker), py::arg("client"))
      .def(
          "submit_book",
          [](Worker& self, const std::string& record, std::optional<double> timeout,
             std::string account) {
            // Waits for nothing, so the GIL may stay.
            const Schema& schema = *row_type_given(py::str(record)).schema;
            return self.submit(self.client().book(schema, timeout, std::move(account)));
          },
          py::arg("record"), py::arg("timeout"), py::arg("account") = "")
      .def("cancel", &Worker::cancel, py::arg("id"))
      .def("notification_fd", &Worker::notification_fd)
      .def("take", [](Worker& self) { return events_as_python(self.take()); })
      .def(
          "wait",
          [](Worker& self, double patience) {
            return events_as_python(released([&] { return self.wait(from_seconds(patience)); }));
          },
          py::arg("patience"))
      .def("close", [](Worker& self) { released([&] { self.close(); }); });
  py::class_<Search, std::shared_ptr<Search>>(module, "Search", py::is_final())
      .def(py::init(&make_search), py::arg("client"), py::arg("query"), py::arg("page_size"),
           py::arg("start_page"), py::arg("max_items"), py::arg("prefetch"), py::arg("timeout"))
      .def("set_timeout", &Search::set_timeout, py::arg("timeout"))
      .def("state", [](const Search& self) { return pager_as_python(self.pager()); })
      .def("wait",
           [](Search& self) {
             return wait_in_slices(self, [&](const auto& page) { return page || self.ended(); });
           })
      .def("close", [](Search& self) { released([&] { self.close(); }); })
      .def("submit", &submit, py::arg("worker"))
      .def("surplus", &Search::surplus)
      .def("deliver", &Search::deliver, py::arg("outcome"))
      .def("take",
           [](Search& self) {
             std::optional<SearchPage> page = self.take();
             return page ? py::object(as_python(std::move(*page))) : py::none();
           })
      .def_property_readonly("done", &Search::done);
}

}  // namespace tradingdata::python
