// Wall clock times of a Python time zone as instants.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

namespace tradingdata::python {

namespace py = pybind11;

// Microseconds on the zone's wall clock to microseconds UTC, as datetime does it with fold=0.
// Calls Python twice for each day, and more often only on days when the offset changes.
class WallClock {
 public:
  explicit WallClock(py::object zone);

  std::int64_t operator()(std::int64_t wall_micros);

  // A function that gives the zone's offset from UTC at a wall clock time, in microseconds.
  static std::function<std::int64_t(std::int64_t)> offset_of(py::object zone);

 private:
  std::int64_t offset_at(std::int64_t wall_micros) const;

  py::object zone_;
  py::object epoch_;
  py::object timedelta_;
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> offset_of_day_;
};

// The zone as Arrow names it: "Asia/Kolkata", "UTC" or "+05:30". Raises ValueError for another.
std::string arrow_zone(const py::object& zone);

}  // namespace tradingdata::python
