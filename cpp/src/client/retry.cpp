// Exponential back-off with full jitter, and a quota that ends retries during an outage.
#include "client/retry.hpp"

#include <algorithm>

namespace tradingdata {

Duration RetryPolicy::backoff(int i, double random) const {
  constexpr int enough_doublings = 20;
  const Duration doubled = base * (std::int64_t{1} << std::min(i, enough_doublings));
  return from_seconds(random * to_seconds(std::min(longest, doubled)));
}

bool is_passing(int status) {
  switch (status) {
    case 408:
    case 425:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504: return true;
    default: return false;
  }
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

}  // namespace tradingdata
