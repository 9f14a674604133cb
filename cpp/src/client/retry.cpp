// Exponential back-off with full jitter, Retry-After in both of its forms, and a quota that ends
// retries during an outage.
#include "client/retry.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/text.hpp"

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

Duration RetryPolicy::backoff(int i, double random) const {
  constexpr int enough_doublings = 20;
  const Duration doubled = base * (std::int64_t{1} << std::min(i, enough_doublings));
  return from_seconds(random * to_seconds(std::min(longest, doubled)));
}

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

int RetryQuota::acquire(bool timeout) {
  const int cost = timeout ? timeout_cost : retry_cost;
  int left = left_.load(std::memory_order_relaxed);
  do {
    if (left < cost) return 0;
  } while (!left_.compare_exchange_weak(left, left - cost, std::memory_order_relaxed));
  return cost;
}

void RetryQuota::release(int taken) {
  const int back = taken > 0 ? taken : reward;
  int left = left_.load(std::memory_order_relaxed);
  while (!left_.compare_exchange_weak(left, std::min(capacity, left + back),
                                      std::memory_order_relaxed)) {
  }
}

// Reserves a time slot for each request by the generic cell rate algorithm, which needs one
// number instead of a queue.

RateLimit::RateLimit(double per_second, int burst) : per_second_(per_second), burst_(burst) {
  if (!std::isfinite(per_second) || per_second <= 0) {
    throw Error(ErrorKind::configuration, "RateLimit: per_second must be a number above 0");
  }
  if (burst < 1 || burst > 1'000'000) {
    throw Error(ErrorKind::configuration, "RateLimit: burst must be from 1 to 1,000,000");
  }
  interval_ = to_seconds(from_seconds(1 / per_second));
  tolerance_ = interval_ * (burst - 1);
}

std::optional<TimePoint> RateLimit::reserve(TimePoint now, TimePoint latest) {
  const double at = to_seconds(now.time_since_epoch());
  double next = next_.load(std::memory_order_relaxed);
  while (true) {
    const double slot = std::max(next, at);
    const TimePoint start = now + from_seconds(slot - tolerance_ - at);
    if (start > latest) return std::nullopt;
    if (next_.compare_exchange_weak(next, slot + interval_, std::memory_order_relaxed)) {
      return start;
    }
  }
}

}  // namespace tradingdata
