// What nobody foresaw: any exception from the transport, and memory that runs out anywhere.
#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/engine_bench.hpp"
#include "support/failing_memory.hpp"

using namespace scripted;

namespace {

std::exception_ptr exceptions[] = {
    std::make_exception_ptr(Error(ErrorKind::connect, "no socket")),
    std::make_exception_ptr(std::runtime_error("a defect")),
    std::make_exception_ptr(std::bad_alloc()),
    std::make_exception_ptr(42),
};

Reply good(const Request&, int) {
  return response(200, "good");
}

}  // namespace

TEST_CASE("F122 what a transport throws when a call starts ends that call") {
  for (const std::exception_ptr& thrown : exceptions) {
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

TEST_CASE("F122 what a transport throws while it works ends every call") {
  for (const std::exception_ptr& thrown : exceptions) {
    Bench bench;
    bench.options.max_in_flight = 1;
    bench.script.reply = good;
    bench.open();
    for (int i = 0; i < 3; ++i) bench.engine->submit(bench.call());
    bench.script.before_pump = [&] { std::rethrow_exception(thrown); };
    CHECK(bench.engine->pump(bench.world.now + seconds(1)));
    const Outcomes outcomes = bench.engine->take_all();
    CHECK(outcomes.size() == 3);
    for (const Outcome& outcome : outcomes) CHECK(outcome.error);
    CHECK(bench.engine->idle());
    CHECK(bench.script.cancelled == 1);
    CHECK_THROWS(bench.engine->pump(bench.world.now));  // there is no call to end with it
    bench.script.before_pump = [] {};
    CHECK(text(bench.run(bench.call())) == "good");
  }
}

TEST_CASE("F113 a call ends whichever allocation fails, and the engine works on") {
  int failures = 0;
  for (bool failed = true; failed; ++failures) {
    CAPTURE(failures);
    Bench bench;
    bench.script.reply = [](const Request&, int number) {
      return number == 0 ? response(503, "busy") : response(200, "good");
    };
    bench.open();
    Call call = bench.call();
    const CallId id = call.id;
    failing_memory::fail_after(failures);
    bench.engine->submit(std::move(call));
    for (int i = 0; i < 10 && !bench.engine->idle(); ++i) {
      bench.engine->pump(bench.world.now + seconds(1));
    }
    failed = failing_memory::stop();
    const auto outcome = bench.engine->take(id);
    REQUIRE(outcome);
    CHECK((failed || !outcome->error));
    CHECK(bench.engine->idle());
    CHECK(text(bench.run(bench.call())) == "good");
  }
  CHECK(failures > 20);
}
