// Times as the service writes them: wall clock times without a zone, since it documents none.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tradingdata {

constexpr std::int64_t micros_per_second = 1'000'000;
constexpr std::int64_t seconds_per_day = 86'400;
constexpr std::int64_t micros_per_day = micros_per_second * seconds_per_day;

// The day of a time in microseconds since 1970-01-01, also before it.
constexpr std::int32_t day_of(std::int64_t micros) {
  const std::int64_t day = micros / micros_per_day;
  return static_cast<std::int32_t>(micros % micros_per_day < 0 ? day - 1 : day);
}

// Days since 1970-01-01 in the proleptic Gregorian calendar, and back.
constexpr std::int32_t days_since_epoch(const std::chrono::year_month_day& date) {
  return static_cast<std::int32_t>(std::chrono::sys_days(date).time_since_epoch().count());
}
constexpr std::chrono::year_month_day calendar_date(std::int32_t days) {
  return std::chrono::sys_days(std::chrono::days(days));
}

// 0001-01-01, which the service sends where there is no date.
inline constexpr std::int32_t zero_date =
    days_since_epoch({std::chrono::year(1), std::chrono::January, std::chrono::day(1)});

enum class TimeFit : std::uint8_t {
  documented,  // YYYY-MM-DD HH:MM:SS, or YYYY-MM-DD for a date
  other_form,  // with a T, a fraction or an offset; of a date: with midnight
  zero,        // 0001-01-01, also with midnight behind it: there is no value
  unreadable,
};

struct Timestamp {
  std::int64_t micros = 0;         // since 1970-01-01 00:00:00 on the wall clock
  std::optional<int> offset = {};  // from UTC in minutes, where the text has one
  bool cut = false;                // the text has digits beyond a microsecond
};

TimeFit parse_timestamp(std::string_view text, Timestamp& time);

// Days since 1970-01-01.
TimeFit parse_date(std::string_view text, std::int32_t& days);

// As on the wire; a fraction follows where there is one.
std::string format_timestamp(std::int64_t micros);
std::string format_date(std::int32_t days);

// A time zone's offset in microseconds as "+05:30"; seconds follow where there are any.
std::string format_offset(std::int64_t micros);

}  // namespace tradingdata
