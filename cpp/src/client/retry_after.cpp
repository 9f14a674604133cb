// Reads Retry-After in both of its forms: seconds, and a date relative to the Date header of the
// response.
#include <algorithm>
#include <charconv>

#include "base/ascii.hpp"
#include "client/retry.hpp"
#include "http/http_date.hpp"

namespace tradingdata {

namespace {

// Digits, perhaps with a fraction: no sign, no exponent.
std::optional<double> parse_seconds(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos ||
      !is_digit(text.front()) || !is_digit(text.back())) {
    return std::nullopt;
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (result.ptr != end || result.ec != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> retry_after_seconds(const std::string& value,
                                          const std::optional<std::string>& date,
                                          std::int64_t wall_micros) {
  constexpr double longest_plausible = 366.0 * 24 * 3600;
  std::optional<double> seconds = parse_seconds(trimmed(value));
  if (!seconds) {
    const std::optional<std::int64_t> then = parse_http_date(value);
    if (!then) return std::nullopt;
    const std::optional<std::int64_t> server_now = date ? parse_http_date(*date) : std::nullopt;
    seconds = server_now ? static_cast<double>(*then - *server_now)
                         : static_cast<double>(*then) - static_cast<double>(wall_micros) / 1e6;
  }
  if (*seconds > longest_plausible) return std::nullopt;
  return std::max(*seconds, 0.0);
}

}  // namespace tradingdata
