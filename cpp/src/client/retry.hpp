// When a call is tried again: back-off, Retry-After and the quota; and the rate limit. Whether it
// is tried again says the verdict.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/platform.hpp"
#include "http/http.hpp"

namespace tradingdata {

struct RetryPolicy {
  int attempts = 4;
  Duration base = std::chrono::milliseconds(250);
  Duration longest = std::chrono::seconds(4);
  Duration longest_retry_after = std::chrono::seconds(60);

  // Full jitter: `random` (in [0, 1)) of min(longest, base * 2^i), where i counts retries from 0.
  Duration backoff(int i, double random) const;
};

// The delay that a Retry-After header requests, in seconds and never below 0. A date counts from
// the response's own Date, or from `wall_micros` where it has none. Nothing for other text, and for
// more than a year.
std::optional<double> retry_after_seconds(const std::string& value,
                                          const std::optional<std::string>& date,
                                          std::int64_t wall_micros);

// Bounds what retries add to an outage: botocore's numbers. Safe on many threads.
class RetryQuota {
 public:
  static constexpr int capacity = 500;
  static constexpr int retry_cost = 5;
  static constexpr int timeout_cost = 10;
  static constexpr int reward = 1;

  // What was taken, or 0 where too little is left.
  int acquire(bool timeout);
  // After a success: what its last retry took comes back; one that needed none gives `reward`.
  void release(int taken);
  int left() const { return left_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int> left_ = capacity;
};

// A rate limit that clients may share: requests per second, and a burst that may start at once.
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
