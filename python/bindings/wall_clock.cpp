// Asks the time zone for its offset at both ends of a day, and at each time only on days on which
// it changes: a call of Python for every row would be slow.
#include "wall_clock.hpp"

#include <utility>

#include "base/time.hpp"

namespace tradingdata::python {

namespace {

std::int64_t micros_of(const py::object& timedelta) {
  return timedelta.attr("days").cast<std::int64_t>() * micros_per_day +
         timedelta.attr("seconds").cast<std::int64_t>() * micros_per_second +
         timedelta.attr("microseconds").cast<std::int64_t>();
}

}  // namespace

WallClock::WallClock(py::object zone) : zone_(std::move(zone)) {
  const py::module_ datetime = py::module_::import("datetime");
  epoch_ = datetime.attr("datetime")(1970, 1, 1, 0, 0, 0, 0, zone_);
  timedelta_ = datetime.attr("timedelta");
}

std::int64_t WallClock::offset_at(std::int64_t wall_micros) const {
  using py::literals::operator""_a;
  const py::object time = epoch_ + timedelta_("microseconds"_a = wall_micros);
  const py::object offset = time.attr("utcoffset")();
  if (offset.is_none()) throw py::value_error("the time zone has no offset from UTC");
  return micros_of(offset);
}

std::int64_t WallClock::operator()(std::int64_t wall_micros) {
  const std::int64_t day = day_of(wall_micros);
  const auto [entry, is_new] = offset_of_day_.try_emplace(day);
  if (is_new) {
    const std::int64_t morning = offset_at(day * micros_per_day);
    const std::int64_t night = offset_at((day + 1) * micros_per_day - 1);
    if (morning == night) entry->second = morning;
  }
  return wall_micros - (entry->second ? *entry->second : offset_at(wall_micros));
}

std::function<std::int64_t(std::int64_t)> WallClock::offset_of(py::object zone) {
  return [to_utc = WallClock(std::move(zone))](std::int64_t wall) mutable {
    return wall - to_utc(wall);
  };
}

std::string arrow_zone(const py::object& zone) {
  const py::object key = py::getattr(zone, "key", py::none());
  if (!key.is_none()) return key.cast<std::string>();
  const py::object fixed = py::module_::import("datetime").attr("timezone");
  if (!py::isinstance(zone, fixed)) {
    throw py::value_error("Arrow knows zones by name: localize the book with a name or a ZoneInfo");
  }
  const std::int64_t offset = micros_of(zone.attr("utcoffset")(py::none()));
  if (offset == 0) return "UTC";
  if (offset % (60 * micros_per_second) != 0) {
    throw py::value_error("Arrow supports only UTC offsets of full minutes");
  }
  return format_offset(offset);
}

}  // namespace tradingdata::python
