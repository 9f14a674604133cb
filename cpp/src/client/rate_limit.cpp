#include "client/rate_limit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace tradingdata {

RateLimit::RateLimit(double per_second, int burst)
    : per_second_(per_second),
      burst_(burst),
      interval_(from_seconds(per_second > 0 ? 1 / per_second : 0)),
      tolerance_(interval_ * std::clamp(burst - 1, 0, 1'000'000)),
      next_(std::numeric_limits<Duration::rep>::min()) {
  if (!std::isfinite(per_second) || per_second <= 0) {
    throw Error(ErrorKind::configuration, "RateLimit: per_second must be a number above 0");
  }
  if (burst < 1 || burst > 1'000'000) {
    throw Error(ErrorKind::configuration, "RateLimit: burst must be from 1 to 1,000,000");
  }
}

std::optional<TimePoint> RateLimit::reserve(TimePoint now, TimePoint latest) {
  const Duration::rep at = now.time_since_epoch().count();
  Duration::rep next = next_.load(std::memory_order_relaxed);
  while (true) {
    const Duration::rep slot = std::max(next, at);
    const Duration::rep start = std::max(at, slot - tolerance_.count());
    if (start > latest.time_since_epoch().count()) return std::nullopt;
    if (next_.compare_exchange_weak(next, slot + interval_.count(), std::memory_order_relaxed)) {
      return TimePoint(Duration(start));
    }
  }
}

}  // namespace tradingdata
