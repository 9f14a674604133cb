// Calls over a scripted transport and a fake clock: order, deadlines and cancellation.
#include "client/engine.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "support/engine_bench.hpp"

using namespace scripted;

TEST_CASE("F52 a long outage costs at most one request in ten more than the calls") {
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

TEST_CASE("F52 timeouts cost the quota twice as much, and successes refill it") {
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

TEST_CASE("retries are reported before the wait, with reason and delay") {
  Bench bench;
  bench.script.reply = [](const Request&, int number) {
    return number == 0 ? response(500, "") : response(200, "good");
  };
  bench.open();
  bench.engine->submit(bench.call());
  CHECK(bench.engine->pump(bench.world.now + seconds(100)));
  const auto retries = bench.engine->take_retries();
  REQUIRE(retries.size() == 1);
  CHECK(retries.front().attempt == 1);
  CHECK(retries.front().delay == doctest::Approx(0.125));
  CHECK(retries.front().reason.find("HTTP 500") != std::string::npos);
  CHECK(bench.script.sent.size() == 1);
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
  CHECK(bench.script.sent.size() == 2);
  while (!bench.engine->idle()) bench.engine->pump(bench.world.now + seconds(1));
  CHECK(bench.script.sent.size() == 5);
  CHECK(bench.engine->take_all().size() == 5);
  CHECK(bench.options.stats->calls == 5);
}

TEST_CASE("a cancelled call leaves nothing behind, in flight, in back-off or done") {
  Bench bench;
  bench.script.reply = [](const Request&, int number) {
    return number == 1 ? response(503, "") : response(200, "good");
  };
  bench.open();
  Call flying = bench.call(), backing_off = bench.call(), done = bench.call();
  const CallId ids[] = {flying.id, backing_off.id, done.id};
  bench.engine->submit(std::move(flying));
  bench.engine->cancel(ids[0]);
  CHECK(bench.script.cancelled == 1);
  bench.engine->submit(std::move(backing_off));
  bench.engine->pump(bench.world.now + milliseconds(20));
  bench.engine->cancel(ids[1]);
  bench.engine->submit(std::move(done));
  bench.engine->pump(bench.world.now + milliseconds(20));
  bench.engine->cancel(ids[2]);
  CHECK(bench.engine->idle());
  CHECK(bench.engine->take_all().empty());
  bench.engine->cancel(ids[0]);
}

TEST_CASE("pumping ends when it is woken") {
  Bench bench;
  bench.script.reply = [](const Request&, int) { return response(200, "good"); };
  bench.open();
  bench.engine->wake();
  const TimePoint before = bench.world.now;
  CHECK_FALSE(bench.engine->pump(before + seconds(100)));
  CHECK(bench.world.now == before);
}

TEST_CASE("what a judge throws comes out as it is") {
  Bench bench;
  bench.script.reply = [](const Request&, int) { return response(200, "good"); };
  Call odd = bench.call();
  odd.judge = [](Response&, const Secrets&) -> Judged { throw std::bad_alloc(); };
  CHECK_THROWS_AS(std::rethrow_exception(bench.run(std::move(odd)).error), std::bad_alloc);
}

TEST_CASE("F119 a judge gets what no result may hold: the token of the call and all others") {
  Bench bench;
  bench.script.reply = [](const Request&, int) { return response(200, "good"); };
  auto known = std::make_shared<Tokens>();
  known->set("a-later-token-2");
  Call call = bench.call();
  call.request.token = std::make_shared<const Secret>("canary-token-1");
  call.request.known = known;
  int found = 0;
  call.judge = [&found](Response&, const Secrets& secrets) -> Judged {
    secrets->find("canary-token-1, a-later-token-2", [&](std::size_t, std::size_t) { ++found; });
    return std::make_shared<int>(0);
  };
  bench.run(std::move(call));
  CHECK(found == 2);
}

TEST_CASE("F119 what a transport reports is shown without the token") {
  Bench bench;
  bench.script.reply = [](const Request&, int) {
    return Reply{.what = Failure{ErrorKind::transport, Retry::never,
                                 "odd header canary\\u002Dtoken-1 here"}};
  };
  Call call = bench.call();
  call.request.token = std::make_shared<const Secret>("canary-token-1");
  CHECK(bench.fail(std::move(call)).what() ==
        std::string("POST /api/v1/order/book: odd header <token> here"));
}
