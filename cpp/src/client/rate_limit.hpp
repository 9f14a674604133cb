// A rate limit that clients may share: requests per second, and a burst that may start at once.
#pragma once

#include <atomic>
#include <optional>

#include "base/platform/clock.hpp"

namespace tradingdata {

// Assigns start times and never waits itself. Thread-safe without a lock.
class RateLimit {
 public:
  // Throws Error (configuration) unless per_second > 0 and burst >= 1.
  explicit RateLimit(double per_second, int burst = 1);

  // When the next request may start, `now` or later; nothing, and no slot taken, where that would
  // be after `latest`.
  std::optional<TimePoint> reserve(TimePoint now, TimePoint latest);

  double per_second() const { return per_second_; }
  int burst() const { return burst_; }

 private:
  double per_second_;
  int burst_;
  // Seconds as doubles: a large burst at a slow pace spans more than 64 bits of nanoseconds.
  double interval_ = 0;
  double tolerance_ = 0;          // how far ahead of the even pace a burst may run
  std::atomic<double> next_ = 0;  // the even pace's next slot, on the steady clock
};

}  // namespace tradingdata
