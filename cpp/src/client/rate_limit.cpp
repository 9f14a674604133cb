// Reserves a time slot for each request by the generic cell rate algorithm, which needs one
// number instead of a queue.
#include "client/rate_limit.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace tradingdata {

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
