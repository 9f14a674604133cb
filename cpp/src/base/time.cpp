// Parses and formats times outside the documented form, which time.hpp reads faster.
#include "base/time.hpp"

#include <cstdio>
#include <cstdlib>

#include "base/text.hpp"

namespace tradingdata {

namespace {

using detail::date_length;
using detail::timestamp_length;

// `count` digits as a number, or a negative number if one is not a digit.
int digits(const char* text, int count) {
  int value = 0;
  for (int i = 0; i < count; ++i) {
    if (!is_digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

// Passes a fraction such as .25; false where there is none. Digits beyond a microsecond are cut.
bool pass_fraction(std::string_view& text, Timestamp& time) {
  std::size_t end = 1;
  int micros = 0;
  for (int scale = 100'000; end < text.size() && is_digit(text[end]); ++end, scale /= 10) {
    micros += (text[end] - '0') * scale;
    time.cut = time.cut || (scale == 0 && text[end] != '0');
  }
  text.remove_prefix(end);
  time.micros += micros;
  return end > 1;
}

// Z, +05:30, +0530 or +05 as minutes; nothing if it is none of these.
std::optional<int> read_offset(std::string_view text) {
  if (text == "Z") return 0;
  const bool colon = text.size() == 6 && text[3] == ':';
  if ((text[0] != '+' && text[0] != '-') || !(text.size() == 3 || text.size() == 5 || colon)) {
    return std::nullopt;
  }
  const int hours = digits(text.data() + 1, 2);
  const int minutes = text.size() == 3 ? 0 : digits(text.data() + (colon ? 4 : 3), 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

}  // namespace

TimeFit parse_timestamp(std::string_view text, Timestamp& time) {
  if (text.size() < date_length) return TimeFit::unreadable;
  std::int32_t days = 0;
  if (!detail::read_day(text.data(), days)) return TimeFit::unreadable;
  if (text.size() == date_length) return days == zero_date ? TimeFit::zero : TimeFit::unreadable;
  if (text.size() < timestamp_length) return TimeFit::unreadable;
  const char separator = text[date_length];
  const std::int64_t seconds = detail::clock_seconds(text.data() + date_length + 1);
  if ((separator != ' ' && separator != 'T') || seconds < 0) return TimeFit::unreadable;
  time = {.micros = days * micros_per_day + seconds * micros_per_second};
  std::string_view rest = text.substr(timestamp_length);
  const bool documented = rest.empty() && separator == ' ';
  if (rest.starts_with('.') && !pass_fraction(rest, time)) return TimeFit::unreadable;
  if (!rest.empty()) {
    time.offset = read_offset(rest);
    if (!time.offset) return TimeFit::unreadable;
  }
  // Another time of that day is no absent value, and no time of a trade.
  if (days == zero_date) {
    const bool midnight = time.micros == zero_date * micros_per_day && !time.cut;
    return midnight ? TimeFit::zero : TimeFit::unreadable;
  }
  return documented ? TimeFit::documented : TimeFit::other_form;
}

TimeFit parse_date(std::string_view text, std::int32_t& days) {
  if (text.size() < date_length) return TimeFit::unreadable;
  if (!detail::read_day(text.data(), days)) return TimeFit::unreadable;
  if (text.size() == date_length) return days == zero_date ? TimeFit::zero : TimeFit::documented;
  Timestamp time;
  const TimeFit fit = parse_timestamp(text, time);
  if (fit == TimeFit::zero || fit == TimeFit::unreadable) return fit;
  const bool midnight = time.micros == days * micros_per_day && !time.cut;
  return midnight ? TimeFit::other_form : TimeFit::unreadable;
}

std::string format_date(std::int32_t days) {
  const std::chrono::year_month_day date = calendar_date(days);
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", int{date.year()}, unsigned{date.month()},
                unsigned{date.day()});
  return text;
}

std::string format_timestamp(std::int64_t micros, const ZoneOffset& offset) {
  const std::int32_t day = day_of(micros);
  const std::int64_t rest = micros - day * micros_per_day;
  const auto seconds = static_cast<int>(rest / micros_per_second);
  const auto fraction = static_cast<int>(rest % micros_per_second);
  char text[32];
  std::snprintf(text, sizeof text, " %02d:%02d:%02d", seconds / 3600, seconds / 60 % 60,
                seconds % 60);
  std::string result = format_date(day) + text;
  if (fraction != 0) {
    std::snprintf(text, sizeof text, ".%06d", fraction);
    result += text;
  }
  if (offset) result += format_offset(offset(micros));
  return result;
}

std::string format_offset(std::int64_t micros) {
  const std::int64_t seconds = std::abs(micros) / micros_per_second;
  char text[16];
  std::snprintf(text, sizeof text, "%c%02d:%02d", micros < 0 ? '-' : '+',
                static_cast<int>(seconds / 3600), static_cast<int>(seconds / 60 % 60));
  std::string result = text;
  if (seconds % 60 != 0) {
    std::snprintf(text, sizeof text, ":%02d", static_cast<int>(seconds % 60));
    result += text;
  }
  return result;
}

}  // namespace tradingdata
