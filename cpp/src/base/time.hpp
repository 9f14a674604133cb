// Times as the service writes them: wall clock times without a zone, since it documents none.
#pragma once

#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"

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

// The last day that the service's form can write.
inline constexpr std::int32_t last_date =
    days_since_epoch({std::chrono::year(9999), std::chrono::December, std::chrono::day(31)});

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

// A time zone's offset from UTC in microseconds, at a time on its wall clock.
using ZoneOffset = std::function<std::int64_t(std::int64_t micros)>;

// As on the wire; a fraction follows where there is one, and the offset of a zone if it is given.
std::string format_timestamp(std::int64_t micros, const ZoneOffset& offset = {});
std::string format_date(std::int32_t days);

// A time zone's offset in microseconds as "+05:30"; seconds follow where there are any.
std::string format_offset(std::int64_t micros);

}  // namespace tradingdata

namespace tradingdata::detail {

// The form that the service documents is read eight characters at a time.
inline constexpr int date_length = 10;
inline constexpr int timestamp_length = 19;

// Eight bytes, the first one lowest.
inline std::uint64_t little_word(const char* text) {
  std::uint64_t word = load_word(text);
  if constexpr (std::endian::native != std::endian::little) {
    for (int i = 0; i < 8; ++i) word = word << 8 | static_cast<unsigned char>(text[7 - i]);
  }
  return word;
}

// Seconds since midnight of HH:MM:SS, or -1.
inline std::int64_t clock_seconds(const char* text) {
  const std::uint64_t word = little_word(text) ^ 0x30303A30303A3030;  // digits: 0..9, colons: 0
  // A digit above 9, or another byte in place of a colon, carries into its byte's top bit.
  if (((word | (word + 0x76767F76767F7676)) & 0x8080808080808080) != 0) return -1;
  const auto two = [word](int shift) {
    return static_cast<std::int64_t>((word >> shift & 0xFF) * 10 + (word >> (shift + 8) & 0xFF));
  };
  const std::int64_t hour = two(0);
  const std::int64_t minute = two(24);
  const std::int64_t second = two(48);
  if (hour > 23 || minute > 59 || second > 59) return -1;
  return hour * 3600 + minute * 60 + second;
}

// Writes the days since 1970-01-01 of YYYY-MM-DD; false where the text is no day. An optional would
// be returned through memory, in pieces, for which its reader waits.
inline bool read_day(const char* text, std::int32_t& days) {
  const std::uint64_t word = little_word(text) ^ 0x2D30302D30303030;  // as in clock_seconds
  const std::uint64_t last = (little_word(text + 2) >> 48) ^ 0x3030;
  if (((word | (word + 0x7F76767F76767676)) & 0x8080808080808080) != 0) return false;
  if (((last | (last + 0x7676)) & 0x8080) != 0) return false;
  const auto two = [](std::uint64_t from, int shift) {
    return static_cast<unsigned>((from >> shift & 0xFF) * 10 + (from >> (shift + 8) & 0xFF));
  };
  const unsigned year = two(word, 0) * 100 + two(word, 16);
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(two(word, 40)),
                                         std::chrono::day(two(last, 0))};
  if (year == 0 || !date.ok()) return false;
  days = days_since_epoch(date);
  return true;
}

}  // namespace tradingdata::detail
