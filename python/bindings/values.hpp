// Converts Python values to what a column holds, and the times of a Python time zone.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

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

// A new datetime, or date; nullptr with a Python error set. `zone` may be None.
PyObject* make_datetime(std::chrono::year_month_day date, std::int64_t micros, py::handle zone);
PyObject* make_date(std::chrono::year_month_day date);

// Calls the datetime C API's import once; Python's error is thrown.
void import_datetime();

// Converts microseconds on the zone's wall clock to microseconds UTC, as datetime does it with
// fold=0, and back. Calls Python twice for each day, and more often only on days when the offset
// changes.
class WallClock {
 public:
  explicit WallClock(py::object zone) : WallClock(std::move(zone), false) {}

  std::int64_t operator()(std::int64_t wall_micros) { return wall_micros - offset(wall_micros); }

  // A function that gives the zone's offset from UTC at a wall clock time, in microseconds.
  static std::function<std::int64_t(std::int64_t)> offset_of(py::object zone);
  // A function that gives the wall clock time of an instant.
  static std::function<std::int64_t(std::int64_t)> to_wall(py::object zone);

 private:
  WallClock(py::object zone, bool of_instants);

  std::int64_t offset(std::int64_t micros);
  std::int64_t offset_at(std::int64_t micros) const;

  bool of_instants_;  // whether offsets are looked up by the instant, not by the wall clock time
  py::object zone_;
  py::object epoch_;
  py::object timedelta_;
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> offset_of_day_;
};

// The zone as Arrow names it: "Asia/Kolkata", "UTC" or "+05:30". Raises ValueError for another.
std::string arrow_zone(const py::object& zone);

}  // namespace tradingdata::python
