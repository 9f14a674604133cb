// Converts Python values to what a column holds, and the times of a Python time zone.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.hpp"
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

// A value's repr for a message, without personal data.
std::string shown(PyObject* value);

// An aware datetime in UTC, of microseconds since 1970.
py::object utc_datetime(std::int64_t micros);

// A new datetime, or date; nullptr with a Python error set. `zone` may be None.
PyObject* make_datetime(std::chrono::year_month_day date, std::int64_t micros, py::handle zone);
PyObject* make_date(std::chrono::year_month_day date);

// Calls the datetime C API's import once; Python's error is thrown.
void import_datetime();

// Offsets of a zone at times on its clock, as datetime gives them with fold=0; nothing for None.
// Calls Python twice for each day, and more often only on days when the offset changes, and takes
// the GIL for that.
ZoneOffset offset_of(const py::object& zone);

// The same at instants. Throws SecondOfTwo.
ZoneOffset offset_of_instants(const py::object& zone);

// The zone as Arrow names it: "Asia/Kolkata", "UTC" or "+05:30". Raises ValueError for another.
std::string arrow_zone(const py::object& zone);

}  // namespace tradingdata::python
