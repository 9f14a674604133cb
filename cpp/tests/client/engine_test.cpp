// Calls over a scripted transport and a fake clock: order, deadlines, cancellation, and what nobody
// foresaw.
#include "client/engine.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "support/engine_bench.hpp"
#include "support/failing_memory.hpp"

using namespace tradingdata;
using namespace scripted;

TEST_CASE("a long outage costs at most one request in ten more than the calls") {
  Bench bench;
  bench.script.reply = [](const Request&, int) { return response(503, ""); };
  bench.open();
  const int calls = 1000;
  for (int i = 0; i < calls; ++i) bench.fail(bench.call());
  CHECK(bench.script.sent.size() <= calls * 1.1);
  CHECK(bench.script.sent.size() == calls + 100);
  const Error error = bench.fail(bench.call());
  CHECK(error.attempts == 1);
  CHECK(std::string(error.what()).find("retry quota is used up") != std::string::npos);
}

TEST_CASE("timeouts cost the quota twice as much, and successes refill it") {
  Bench bench;
  bool down = true;
  bench.script.reply = [&](const Request&, int) {
    return down ? failure(ErrorKind::connect, Retry::always, "slow", true) : response(200, "good");
  };
  bench.open();
  for (int i = 0; i < 200; ++i) bench.fail(bench.call());
  CHECK(bench.script.sent.size() == 200 + 50);
  down = false;
  for (int i = 0; i < 10; ++i) bench.run(bench.call());
  CHECK(bench.options.quota->left() == 10);
}

TEST_CASE("a retry that helped gives back what it took") {
  Bench bench;
  bench.script.reply = [](const Request&, int number) {
    return number % 2 == 0 ? response(503, "") : response(200, "good");
  };
  bench.open();
  for (int i = 0; i < 10; ++i) bench.run(bench.call());
  CHECK(bench.options.quota->left() == RetryQuota::capacity);
}

TEST_CASE("a rate limit spaces the attempts, retries among them, without blocking") {
  Bench bench;
  bench.options.rate_limit = std::make_shared<RateLimit>(1.0, 1);
  bench.script.reply = [](const Request&, int number) {
    return number == 1 ? response(503, "") : response(200, "good");
  };
  bench.open();
  for (int i = 0; i < 3; ++i) bench.engine->submit(bench.call());
  while (!bench.engine->idle()) bench.engine->pump(bench.world.now + seconds(1));
  CHECK(bench.gaps() == std::vector<double>{1000, 1000, 1000});
}

TEST_CASE("a rate limit that leaves no room before the deadline fails at once") {
  Bench bench;
  bench.options.rate_limit = std::make_shared<RateLimit>(0.1, 1);
  bench.script.reply = [](const Request&, int) { return response(200, "good"); };
  bench.run(bench.call());
  const Error error = bench.fail(bench.call(seconds(5)));
  CHECK(error.kind == ErrorKind::deadline);
  CHECK(error.attempts == 0);
  CHECK(error.elapsed == doctest::Approx(0));
}

TEST_CASE("a bounded number of calls is in flight, and the rest follow in order") {
  Bench bench;
  bench.options.max_in_flight = 2;
  bench.script.reply = [](const Request&, int) { return response(200, "good"); };
  bench.open();
  for (int i = 0; i < 5; ++i) bench.engine->submit(bench.call());
  bench.engine->pump(bench.world.now);
  CHECK(bench.script.sent.size() == 2);
  while (!bench.engine->idle()) bench.engine->pump(bench.world.now + seconds(1));
  CHECK(bench.script.sent.size() == 5);
  CHECK(bench.engine->take().outcomes.size() == 5);
}

TEST_CASE("a call for which there is no room ends at its deadline") {
  Bench bench;
  bench.options.max_in_flight = 1;
  bench.script.reply = [](const Request&, int) { return response(200, "good", seconds(20)); };
  bench.open();
  bench.engine->submit(bench.call());
  const Error error = bench.fail(bench.call(seconds(5)));
  CHECK(std::string(error.what()).find("before the request was sent") != std::string::npos);
  CHECK(error.elapsed == doctest::Approx(5));
  CHECK(bench.script.sent.size() == 1);
}

// The thread that carries calls may have been held up, and a computer may have slept.
TEST_CASE("a call that is taken up after its deadline is not sent") {
  Bench bench;
  bench.script.reply = [](const Request&, int) { return response(200, "good"); };
  SUBCASE("before it was looked at") {
    bench.open();
    bench.engine->submit(bench.call(seconds(5)));
  }
  SUBCASE("while the rate limit delayed it") {
    bench.options.rate_limit = std::make_shared<RateLimit>(1.0, 1);
    bench.run(bench.call());
    bench.engine->submit(bench.call(seconds(5)));
    bench.engine->pump(bench.world.now);
  }
  const std::size_t sent = bench.script.sent.size();
  bench.world.now += seconds(6);
  while (!bench.engine->idle()) bench.engine->pump(bench.world.now + seconds(1));
  CHECK(bench.engine->take().outcomes.back().error);
  CHECK(bench.script.sent.size() == sent);
}

TEST_CASE("what a consumer throws comes out as it is") {
  Bench bench;
  bench.script.reply = [](const Request&, int) { return response(200, "good"); };
  Call odd = bench.call();
  refuse_all(odd, std::bad_alloc());
  CHECK_THROWS_AS(std::rethrow_exception(bench.run(std::move(odd)).error), std::bad_alloc);
}

// What nobody foresaw: any exception from the transport, and memory that runs out anywhere.

TEST_CASE("what a transport throws when a call starts ends that call") {
  for (const std::exception_ptr& thrown : failing_memory::exceptions) {
    Bench bench;
    bench.script.reply = [&](const Request&, int number) {
      if (number == 0) std::rethrow_exception(thrown);
      return response(200, "good");
    };
    CHECK(bench.run(bench.call()).error);
    CHECK(bench.engine->idle());
    CHECK(text(bench.run(bench.call())) == "good");
  }
}

TEST_CASE("what a transport throws while it works ends every call") {
  for (const std::exception_ptr& thrown : failing_memory::exceptions) {
    Bench bench;
    bench.options.max_in_flight = 1;
    bench.script.reply = [](const Request&, int) { return response(200, "good"); };
    bench.open();
    for (int i = 0; i < 3; ++i) bench.engine->submit(bench.call());
    bench.script.before_pump = [&] { std::rethrow_exception(thrown); };
    CHECK(bench.engine->pump(bench.world.now + seconds(1)));
    const Outcomes outcomes = bench.engine->take().outcomes;
    CHECK(outcomes.size() == 3);
    for (const Outcome& outcome : outcomes) CHECK(outcome.error);
    CHECK(bench.engine->idle());
    CHECK(bench.script.cancelled == 1);
    CHECK_THROWS(bench.engine->pump(bench.world.now));  // there is no call to end with it
    bench.script.before_pump = [] {};
    CHECK(text(bench.run(bench.call())) == "good");
  }
}

TEST_CASE("a call ends whichever allocation fails, and the engine works on") {
  int failures = 0;
  for (bool failed = true; failed; ++failures) {
    CAPTURE(failures);
    Bench bench;
    bench.script.reply = [](const Request&, int number) {
      return number == 0 ? response(503, "busy") : response(200, "good");
    };
    bench.open();
    Call call = bench.call();
    failing_memory::fail_after(failures);
    bench.engine->submit(std::move(call));
    for (int i = 0; i < 10 && !bench.engine->idle(); ++i) {
      bench.engine->pump(bench.world.now + seconds(1));
    }
    failed = failing_memory::stop();
    const Outcomes outcomes = bench.engine->take().outcomes;
    REQUIRE(outcomes.size() == 1);
    CHECK((failed || !outcomes.front().error));
    CHECK(bench.engine->idle());
    CHECK(text(bench.run(bench.call())) == "good");
  }
  CHECK(failures > 20);
}
