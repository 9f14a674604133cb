// Asks the time zone for its offset at both ends of a day, and at each time only on days on which
// it changes: a call of Python for every row would be slow.
#include "wall_clock.hpp"

#include "base/text/time.hpp"
#include "python_calls.hpp"

namespace tradingdata::python {

namespace {

std::int64_t micros_of(const py::object& timedelta) {
  return attribute(timedelta, "days").cast<std::int64_t>() * micros_per_day +
         attribute(timedelta, "seconds").cast<std::int64_t>() * micros_per_second +
         attribute(timedelta, "microseconds").cast<std::int64_t>();
}

}  // namespace

WallClock::WallClock(py::object zone, bool of_instants)
    : of_instants_(of_instants), zone_(std::move(zone)) {
  const py::object datetime = imported("datetime");
  const py::object of_epoch =
      of_instants ? attribute(attribute(datetime, "timezone"), "utc") : zone_;
  epoch_ = call_python(attribute(datetime, "datetime"), 1970, 1, 1, 0, 0, 0, 0, of_epoch);
  timedelta_ = attribute(datetime, "timedelta");
}

std::int64_t WallClock::offset_at(std::int64_t micros) const {
  py::object time = epoch_ + call_python(timedelta_, 0, 0, micros);
  if (of_instants_) time = call_python(attribute(time, "astimezone"), zone_);
  const py::object offset = call_python(attribute(time, "utcoffset"));
  if (offset.is_none()) throw py::value_error("the time zone has no offset from UTC");
  return micros_of(offset);
}

std::int64_t WallClock::offset(std::int64_t micros) {
  const std::int64_t day = day_of(micros);
  const auto [entry, is_new] = offset_of_day_.try_emplace(day);
  if (is_new) {
    const std::int64_t morning = offset_at(day * micros_per_day);
    const std::int64_t night = offset_at((day + 1) * micros_per_day - 1);
    if (morning == night) entry->second = morning;
  }
  return entry->second ? *entry->second : offset_at(micros);
}

std::function<std::int64_t(std::int64_t)> WallClock::offset_of(py::object zone) {
  return [clock = WallClock(std::move(zone))](std::int64_t wall) mutable {
    return clock.offset(wall);
  };
}

std::function<std::int64_t(std::int64_t)> WallClock::to_wall(py::object zone) {
  return [clock = WallClock(std::move(zone), true)](std::int64_t instant) mutable {
    return instant + clock.offset(instant);
  };
}

std::string arrow_zone(const py::object& zone) {
  const py::object key = attribute(zone, "key", py::none());
  if (!key.is_none()) return key.cast<std::string>();
  if (!py::type::of(zone).is(attribute(imported("datetime"), "timezone"))) {
    throw py::value_error("Arrow knows zones by name: localize the book with a name or a ZoneInfo");
  }
  const std::int64_t offset = micros_of(call_python(attribute(zone, "utcoffset"), py::none()));
  if (offset == 0) return "UTC";
  if (offset % (60 * micros_per_second) != 0) {
    throw py::value_error("Arrow supports only UTC offsets of full minutes");
  }
  return format_offset(offset);
}

}  // namespace tradingdata::python
