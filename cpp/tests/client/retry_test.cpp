// Which failures are retried, after which delay, and what the final error says.
#include "client/retry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "client/engine.hpp"
#include "support/cases.hpp"
#include "support/engine_bench.hpp"

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

TEST_CASE("Retry-After in all its forms") {
  constexpr std::int64_t wall = 1445412480LL * 1'000'000;  // Wed, 21 Oct 2015 07:28:00 GMT
  struct Row {
    const char* value;
    std::optional<std::string> date;
    double seconds;
  };
  const Row rows[] = {
      {"0", {}, 0},
      {"120", {}, 120},
      {" 7 ", {}, 7},
      {"1.5", {}, 1.5},
      {"007", {}, 7},
      {"31622400", {}, 31622400},  // 366 days, the longest that is plausible
      {"Wed, 21 Oct 2015 07:28:30 GMT", {}, 30},
      {"Wed, 21 Oct 2015 07:28:30 GMT", "Wed, 21 Oct 2015 07:28:10 GMT", 20},
      {"Wed, 21 Oct 2015 07:28:30 GMT", "nonsense", 30},
      {"Wed, 21 Oct 2015 07:00:00 GMT", {}, 0},
      {"Wednesday, 21-Oct-15 07:28:05 GMT", {}, 5},
      {"Wed Oct 21 07:28:09 2015", {}, 9},
      {"Sun Nov  6 08:49:37 1994", {}, 0},
      {"Wed, 21 Oct 2015 12:58:30 +0530", {}, 30},
  };
  for (const Row& row : rows) {
    CAPTURE(row.value);
    CHECK(retry_after_seconds(row.value, row.date, wall) == row.seconds);
  }
  for (const std::string& none :
       cases("|soon|-5|+5|1e12|1.|.5|1.2.3|31622401|1000000000000|5 seconds|Wed, |,|"
             "99999999999999999999999999999999999999999999|Wed, 21 Oct 2015 25:28:30 GMT|"
             "Wed, 21 Oct 9999 07:28:30 GMT|Wed, 21 Foo 2015 07:28:30 GMT")) {
    CAPTURE(none);
    CHECK_FALSE(retry_after_seconds(none, std::nullopt, wall));
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
  CHECK_THROWS_AS(RateLimit(1, 1'000'001), Error);
}

using namespace scripted;

TEST_CASE("a response has the time of the service's clock") {
  Bench bench;
  const char* date = nullptr;
  bench.script.reply = [&](const Request&, int) {
    Reply reply = response(200, "good");
    std::get<Response>(reply.what).date = date;
    return reply;
  };
  date = "Fri, 20 Nov 2026 10:15:30 GMT";
  CHECK(bench.run(bench.call()).served_at == 1795169730);
  for (const char* other :
       {"", "yesterday", "Fri, 31 Dec 9999 23:59:59 -1200", "Fri, 99 Nov 2026 10:15:30 GMT"}) {
    date = other;
    CHECK(!bench.run(bench.call()).served_at);
  }
}

TEST_CASE("a burst of 503 is retried after full jitter of 0.25, 0.5 and 1 second") {
  Bench bench;
  bench.world.draws = {1.0, 0.5, 0.25};
  bench.script.reply = [](const Request&, int number) {
    return number < 3 ? response(503, "<html>busy</html>") : response(200, "good");
  };
  const Outcome outcome = bench.run(bench.call());
  CHECK(text(outcome) == "good");
  CHECK(outcome.attempts == 4);
  CHECK(bench.gaps() == std::vector<double>{10 + 250, 10 + 250, 10 + 250});
}

TEST_CASE("the fourth failure is final, and says what it is and how often it was tried") {
  Bench bench;
  bench.script.reply = [](const Request&, int) {
    return response(503, R"({"status":"error","message":"down for repair"})");
  };
  const Error error = bench.fail(bench.call());
  CHECK(error.kind == ErrorKind::server);
  CHECK(error.status_code == 503);
  CHECK(error.attempts == 4);
  CHECK(error.retryable);
  CHECK(error.service_message == "down for repair");
  CHECK(error.elapsed == doctest::Approx(0.04 + 0.125 + 0.25 + 0.5));
  CHECK(std::string(error.what()) ==
        "POST /api/v1/order/book: HTTP 503 Service Unavailable: down for repair "
        "(4 attempts in 0.915 s)");
  CHECK(std::string(error.help) == advice::try_later);
}

TEST_CASE("statuses that may pass are retried") {
  for (const int status : {408, 425, 429, 500, 502, 503, 504, 509, 511, 520, 530, 598}) {
    CAPTURE(status);
    Bench bench;
    bench.script.reply = [&](const Request&, int number) {
      return number == 0 ? response(status, "") : response(200, "good");
    };
    CHECK(bench.run(bench.call()).attempts == 2);
  }
}

TEST_CASE("Retry-After within the deadline is waited for, to the millisecond") {
  Bench bench;
  bench.script.reply = [](const Request&, int number) {
    return number == 0 ? refusal(429, "7") : response(200, "good");
  };
  CHECK(bench.run(bench.call()).attempts == 2);
  CHECK(bench.gaps() == std::vector<double>{10 + 7000});
}

TEST_CASE("a Retry-After shorter than the back-off does not shorten it") {
  Bench bench;
  bench.world.draws = {1.0};
  bench.script.reply = [](const Request&, int number) {
    return number == 0 ? refusal(503, "0") : response(200, "good");
  };
  bench.run(bench.call());
  CHECK(bench.gaps() == std::vector<double>{10 + 250});
}

TEST_CASE("a Retry-After beyond 60 s or the deadline fails at once and is reported") {
  for (const auto& [value, timeout] : {std::pair("61", 300), std::pair("20", 15)}) {
    Bench bench;
    bench.script.reply = [sent = value](const Request&, int) { return refusal(429, sent); };
    const Error error = bench.fail(bench.call(seconds(timeout)));
    CHECK(error.kind == ErrorKind::rate_limit);
    CHECK(error.retry_after == std::stod(value));
    CHECK(error.retryable);
    CHECK(error.attempts == 1);
    const char* const why = timeout == 300 ? "service requires a wait of 61 s" : "the deadline is";
    CHECK(std::string(error.what()).find(why) != std::string::npos);
    CHECK(error.elapsed == doctest::Approx(0.010));
  }
}

TEST_CASE("the deadline in a later attempt reports what happened before") {
  Bench bench;
  bench.script.reply = [](const Request&, int number) {
    return number == 0 ? response(503, "") : response(200, "late", seconds(60));
  };
  const Error error = bench.fail(bench.call(seconds(5)));
  CHECK(error.kind == ErrorKind::deadline);
  CHECK(error.attempts == 2);
  CHECK(error.elapsed == doctest::Approx(5));
  CHECK(std::string(error.what()).find("before that: HTTP 503") != std::string::npos);
}

TEST_CASE("a transport that misses the deadline is stopped 20 ms behind it") {
  Bench bench;
  bench.open();
  bench.script.silent = true;
  bench.script.reply = [](const Request&, int) { return response(200, "good"); };
  Call call = bench.call(seconds(2));
  const TimePoint deadline = call.deadline;
  bench.engine->submit(std::move(call));
  CHECK_FALSE(bench.engine->pump(deadline + milliseconds(19)));
  CHECK(bench.script.cancelled == 0);
  CHECK(bench.engine->pump(deadline + milliseconds(20)));
  CHECK(bench.script.cancelled == 1);
  const Outcomes outcomes = bench.engine->take().outcomes;
  REQUIRE(outcomes.size() == 1);
  CHECK_THROWS_WITH_AS(std::rethrow_exception(outcomes.front().error),
                       doctest::Contains("the deadline passed (after 2.02 s)"), Error);
}

TEST_CASE("a message that only repeats the status is shown once") {
  const auto message = [](const char* sent) {
    Response response;
    response.status = 401;
    response.body = Buffer(std::string(R"({"message":")") + sent + R"("})");
    const Request request;
    const std::string text = verdict(request, response, 0).error.what();
    return text.substr(0, text.find(';'));
  };
  CHECK(message("unauthorized") == "HTTP 401 Unauthorized");
  CHECK(message("Token expired") == "HTTP 401 Unauthorized: Token expired");
}

TEST_CASE("a verdict says whether this call is tried again, and whether a later one may pass") {
  const Request request;
  struct Row {
    Failure failure;
    bool retryable;
    bool passing;
  };
  const Row rows[] = {{{ErrorKind::connect, Retry::always, "refused"}, true, true},
                      {{ErrorKind::connect, Retry::once, "no host"}, true, true},
                      {{ErrorKind::deadline, Retry::never, "late"}, false, true},
                      {{ErrorKind::tls, Retry::never, "no trust"}, false, false}};
  for (const Row& row : rows) {
    CAPTURE(row.failure.message);
    const Verdict given = verdict(request, row.failure);
    CHECK(given.error.retryable == row.retryable);
    CHECK(given.error.passing == row.passing);
    CHECK(given.retry == row.failure.retry);
  }
  Error page(ErrorKind::decode, "it is a web page", advice::base_url);
  CHECK_FALSE(verdict(page).error.retryable);
  CHECK(verdict(page).error.passing);
  Error wrong(ErrorKind::service, "no");
  CHECK_FALSE(verdict(wrong).error.passing);
}
