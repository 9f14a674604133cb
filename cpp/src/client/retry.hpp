// When a call is retried, and after which delay. All calls of this service only read, so every one
// of them may be retried.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/platform/clock.hpp"

namespace tradingdata {

struct RetryPolicy {
  int attempts = 4;
  Duration base = std::chrono::milliseconds(250);
  Duration longest = std::chrono::seconds(4);
  Duration longest_retry_after = std::chrono::seconds(60);

  // Full jitter: `random` (in [0, 1)) of min(longest, base * 2^i), where i counts retries from 0.
  Duration backoff(int i, double random) const;
};

// Whether an HTTP status may be temporary: 408, 425, 429, 500, 502, 503, 504.
bool is_passing(int status);

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

}  // namespace tradingdata
