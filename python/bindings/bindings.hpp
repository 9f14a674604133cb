// The functions of the binding's files that the module's table of contents calls.
#pragma once

#include <pybind11/pybind11.h>

#include "python_calls.hpp"

namespace tradingdata::python {

void bind_python_calls(py::module_& module);
void bind_errors(py::module_& module);
void bind_records(py::module_& module);
void bind_declarations(py::module_& module);
void bind_record_functions(py::module_& module);
void bind_slice(py::module_& module);
void bind_views(py::module_& module);
void bind_decode(py::module_& module);
void bind_client(py::module_& module);
void bind_worker(py::module_& module);
void bind_search(py::module_& module);
void bind_arrow(py::module_& module);
void bind_arrays(py::module_& module);
void bind_csv(py::module_& module);
void bind_json(py::module_& module);
void bind_selection(py::module_& module);
void bind_compute(py::module_& module);
void bind_personal(py::module_& module);

}  // namespace tradingdata::python
