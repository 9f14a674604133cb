// Back-off, Retry-After, the retry quota and the rate limit.
#include "client/retry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

#include "base/error.hpp"

using namespace tradingdata;
using std::chrono::milliseconds;

TEST_CASE("back-off doubles from 0.25 s to a ceiling of 4 s, times the random draw") {
  const RetryPolicy policy;
  CHECK(policy.backoff(0, 1.0) == milliseconds(250));
  CHECK(policy.backoff(1, 1.0) == milliseconds(500));
  CHECK(policy.backoff(2, 0.5) == milliseconds(500));
  CHECK(policy.backoff(4, 1.0) == milliseconds(4000));
  CHECK(policy.backoff(1000, 1.0) == milliseconds(4000));
  CHECK(policy.backoff(3, 0.0) == milliseconds(0));
}

TEST_CASE("F48 F49 F50 Retry-After in all its forms") {
  constexpr std::int64_t wall = 1445412480LL * 1'000'000;  // Wed, 21 Oct 2015 07:28:00 GMT
  struct Row {
    const char* value;
    const char* date;
    std::optional<double> seconds;
  };
  const Row rows[] = {
      {"0", nullptr, 0},
      {"120", nullptr, 120},
      {" 7 ", nullptr, 7},
      {"1.5", nullptr, 1.5},
      {"007", nullptr, 7},
      {"31622400", nullptr, 31622400},  // 366 days, the longest that is plausible
      {"31622401", nullptr, {}},
      {"Wed, 21 Oct 2015 07:28:30 GMT", nullptr, 30},
      {"Wed, 21 Oct 2015 07:28:30 GMT", "Wed, 21 Oct 2015 07:28:10 GMT", 20},
      {"Wed, 21 Oct 2015 07:28:30 GMT", "nonsense", 30},
      {"Wed, 21 Oct 2015 07:00:00 GMT", nullptr, 0},
      {"Wednesday, 21-Oct-15 07:28:05 GMT", nullptr, 5},
      {"Wed Oct 21 07:28:09 2015", nullptr, 9},
      {"Sun Nov  6 08:49:37 1994", nullptr, 0},
      {"", nullptr, {}},
      {"soon", nullptr, {}},
      {"-5", nullptr, {}},
      {"+5", nullptr, {}},
      {"1e12", nullptr, {}},
      {"1.", nullptr, {}},
      {".5", nullptr, {}},
      {"1.2.3", nullptr, {}},
      {"1000000000000", nullptr, {}},
      {"99999999999999999999999999999999999999999999", nullptr, {}},
      {"5 seconds", nullptr, {}},
      {"Wed, 21 Oct 2015 25:28:30 GMT", nullptr, {}},
      {"Wed, 21 Oct 2015 12:58:30 +0530", nullptr, 30},
      {"Wed, 21 Oct 9999 07:28:30 GMT", nullptr, {}},
      {"Wed, 21 Foo 2015 07:28:30 GMT", nullptr, {}},
      {"Wed, ", nullptr, {}},
      {",", nullptr, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.value);
    std::optional<std::string> date;
    if (row.date != nullptr) date = row.date;
    CHECK(retry_after_seconds(row.value, date, wall) == row.seconds);
  }
}

TEST_CASE("the quota is exact under many threads") {
  RetryQuota quota;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) {
        if (const int taken = quota.acquire(k % 2 == 0)) quota.release(taken);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(quota.left() == RetryQuota::capacity);
  quota.release(0);
  CHECK(quota.left() == RetryQuota::capacity);
}

TEST_CASE("a rate limit lets a burst go, then keeps the pace, and refills while idle") {
  RateLimit limit(10.0, 3);
  const TimePoint start = TimePoint(std::chrono::hours(5));
  std::vector<double> starts;
  for (int i = 0; i < 6; ++i)
    starts.push_back(to_seconds(*limit.reserve(start, TimePoint::max()) - start));
  CHECK(starts == std::vector<double>{0, 0, 0, 0.1, 0.2, 0.3});
  CHECK_FALSE(limit.reserve(start, start + milliseconds(399)));
  CHECK(limit.reserve(start, start + milliseconds(400)));
  const TimePoint later = start + std::chrono::seconds(10);
  for (int i = 0; i < 3; ++i) CHECK(limit.reserve(later, later) == later);
  CHECK_FALSE(limit.reserve(later, later));
}

TEST_CASE("a rate limit gives no slot twice under many threads") {
  RateLimit limit(1000.0, 1);
  const TimePoint start = TimePoint(std::chrono::hours(5));
  std::vector<std::vector<TimePoint>> slots(4);
  std::vector<std::thread> threads;
  for (auto& own : slots) {
    threads.emplace_back([&] {
      for (int k = 0; k < 500; ++k) own.push_back(*limit.reserve(start, TimePoint::max()));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<TimePoint> all;
  for (const auto& own : slots) all.insert(all.end(), own.begin(), own.end());
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i] == start + milliseconds(static_cast<std::int64_t>(i)));
  }
}

TEST_CASE("a rate limit of a large burst at a slow pace lets the burst go") {
  constexpr int burst = 1'000'000;
  RateLimit limit(1e-4, burst);
  const TimePoint now = TimePoint(std::chrono::hours(5));
  int started = 0;
  while (started < burst && limit.reserve(now, now)) ++started;
  CHECK(started == burst);
  CHECK_FALSE(limit.reserve(now, now + std::chrono::hours(2)));
  CHECK(limit.reserve(now, now + std::chrono::hours(3)));
}

TEST_CASE("a rate limit of a larger burst than a million, or of none, is refused") {
  CHECK_THROWS_AS(RateLimit(1.0, 1'000'001), Error);
  CHECK_THROWS_AS(RateLimit(1.0, 0), Error);
}

TEST_CASE("a rate limit of the slowest pace and the largest burst neither overflows nor refuses") {
  RateLimit limit(std::numeric_limits<double>::denorm_min(), 1'000'000);
  const TimePoint now = TimePoint(std::chrono::hours(5));
  for (int i = 0; i < 1000; ++i) REQUIRE(limit.reserve(now, now) == now);
}

TEST_CASE("a rate limit of nonsense is refused") {
  CHECK_THROWS_AS(RateLimit(0), Error);
  CHECK_THROWS_AS(RateLimit(-1), Error);
  CHECK_THROWS_AS(RateLimit{std::numeric_limits<double>::quiet_NaN()}, Error);
  CHECK_THROWS_AS(RateLimit(1, 0), Error);
}
