// What the bindings of the synchronous client, the pagers and the asynchronous client share.
#pragma once

#include <pybind11/pybind11.h>

#include "client/search.hpp"
#include "released_gil.hpp"

namespace tradingdata::python {

namespace py = pybind11;

// (table, status_code, attempts, elapsed, received_at in microseconds UTC)
py::tuple as_python(Fetched fetched);

// The same, and: page, rows to yield, rows dropped
py::tuple as_python(SearchPage page);

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

}  // namespace tradingdata::python
