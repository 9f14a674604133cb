// What the bindings of the synchronous client, the pagers and the asynchronous client share.
#pragma once

#include <pybind11/pybind11.h>

#include "client/client.hpp"

namespace tradingdata::python {

namespace py = pybind11;

// (table, status_code, attempts, elapsed, received_at in microseconds UTC)
py::tuple as_python(Fetched fetched);

// Lets Ctrl-C in while a thread waits without the GIL; `on_retry` is None or takes
// (attempt, reason, delay).
Waiting waiting_in_python(const py::object& on_retry);

// The error of tradingdata.errors for an error of the core.
py::object python_error(const Error& error);

}  // namespace tradingdata::python
