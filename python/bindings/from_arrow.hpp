// Tables made from what other libraries export over Arrow's PyCapsule interface.
#pragma once

#include <pybind11/pybind11.h>

namespace tradingdata::python {

namespace py = pybind11;

// A _core.Slice of what `data` exports by __arrow_c_stream__ or __arrow_c_array__.
py::object from_arrow(const py::object& record, const py::object& data, bool keep_personal_data);

}  // namespace tradingdata::python
