// When a call is tried again, and how long that waits. All calls of this service only read, so
// every one of them may be.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.hpp"

namespace tradingdata {

struct RetryPolicy {
  int attempts = 4;
  Duration base = std::chrono::milliseconds(250);
  Duration longest = std::chrono::seconds(4);
  Duration longest_retry_after = std::chrono::seconds(60);

  // Full jitter: `random` (in [0, 1)) of min(longest, base * 2^i), where i counts retries from 0.
  Duration backoff(int i, double random) const;
};

// Whether an HTTP status is one that may pass: 408, 425, 429, 500, 502, 503, 504.
bool is_passing(int status);

// What a Retry-After header asks for: a number of seconds, or a date, which counts from the
// answer's own Date and else from `wall_micros`; never below 0. Nothing for what is neither, and
// for more than a year.
std::optional<double> retry_after_seconds(std::string_view value,
                                          std::optional<std::string_view> date,
                                          std::int64_t wall_micros);

// Seconds since the epoch of an HTTP date in any of its three forms (RFC 9110, section 5.6.7).
std::optional<std::int64_t> parse_http_date(std::string_view text);

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
