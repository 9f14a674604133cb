// Converts Python values to what a column holds. Each function raises TypeError or ValueError that
// names the field where the value is of another type, or cannot be held exactly.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string_view>

#include "table/schema.hpp"

namespace tradingdata::python {

namespace py = pybind11;

std::int64_t integer_of(const Field& field, PyObject* value);
double number_of(const Field& field, PyObject* value);
// Microseconds since 1970-01-01 on the clock of the datetime, whatever its time zone.
std::int64_t micros_of(const Field& field, PyObject* value);
// Days since 1970-01-01.
std::int32_t date_of(const Field& field, PyObject* value);
std::int32_t days_of(PyObject* date);
// UTF-8, owned by the value.
std::string_view text_of(const Field& field, PyObject* value);

// Calls the datetime C API's import once; Python's error is thrown.
void import_datetime_for_values();

}  // namespace tradingdata::python
