// Writes times of any unit with all of their digits.
#include "decode/arrow_json.hpp"

#include <cstdio>

#include "base/text.hpp"
#include "base/time.hpp"

namespace tradingdata::detail {

Literal ArrowLiterals::time(std::int64_t units) {
  constexpr std::int64_t nanos_per_second = 1'000'000'000;
  constexpr std::int64_t nanos_per_micro = nanos_per_second / micros_per_second;
  const bool is_day = type_.wire == Wire::date32;
  const std::int64_t per_second = is_day ? 1 : type_.per_second;
  const std::int64_t second =
      is_day ? units * seconds_per_day : units / per_second - (units % per_second < 0 ? 1 : 0);
  const std::int64_t day = second / seconds_per_day - (second % seconds_per_day < 0 ? 1 : 0);
  if (day < zero_date || day > last_date) return number(units);
  const std::int64_t nanos =
      is_day ? 0 : (units - second * per_second) * (nanos_per_second / per_second);
  const bool is_midnight = second == day * seconds_per_day && nanos == 0;
  if (is_day || (as_day_ && is_midnight)) {
    text_ = format_date(static_cast<std::int32_t>(day));
  } else if (nanos % nanos_per_micro == 0) {
    text_ = format_timestamp(second * micros_per_second + nanos / nanos_per_micro);
  } else {
    char fraction[16];
    std::snprintf(fraction, sizeof fraction, ".%09d", static_cast<int>(nanos));
    text_ = format_timestamp(second * micros_per_second) + fraction;
  }
  if (!type_.zone.empty()) text_ += 'Z';
  return literal(Literal::Type::text, text_);
}

std::string json_of(const Literal& literal) {
  if (literal.type != Literal::Type::text) return std::string(literal.text);
  std::string json;
  put_json_text(json, literal.text);
  return json;
}

}  // namespace tradingdata::detail
