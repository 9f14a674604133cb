// Fields that the schema does not know, as Python values.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "table/table.hpp"

namespace tradingdata::python {

namespace py = pybind11;

// The value as Python's json reads it.
py::object extra_value(const Table& table, const Extra& extra);

// Adds a row's unknown fields to a dict, by name.
void add_extras(const Table& table, std::int64_t row, py::dict& into);

// The value of one of a row's unknown fields; a null object where it has no such field.
py::object find_extra(const Table& table, std::int64_t row, PyObject* name);

}  // namespace tradingdata::python
