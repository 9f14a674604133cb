// An engine on a scripted transport and a fake clock, and what a test asks of it.
#pragma once

#include <doctest/doctest.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/scripted.hpp"
#include "table/records.hpp"
#include "table/table.hpp"

namespace scripted {

// Keeps the body as it is, in a table without rows; or throws in its place.
struct Keeper final : Consumer {
  explicit Keeper(std::exception_ptr refusal = nullptr) : refused(std::move(refusal)) {}

  void advance(Buffer&) noexcept override {}

  TablePtr finish(Buffer body) override {
    if (refused) std::rethrow_exception(refused);
    TableBuilder builder(stock_schema);
    builder.hold_body(std::move(body));
    return std::move(builder).build();
  }

  std::exception_ptr refused;
};

// The consumer of every response to the call throws this.
template <typename Thrown>
void refuse_all(Call& call, const Thrown& thrown) {
  call.request.consumer = [thrown](const std::shared_ptr<TokenSearch>&) {
    return std::make_unique<Keeper>(std::make_exception_ptr(thrown));
  };
}

struct Bench {
  World world;
  Script script{world};
  EngineOptions options;
  std::unique_ptr<Engine> engine;

  void open() {
    options.sources = world.sources();
    engine = std::make_unique<Engine>(std::make_unique<ScriptedTransport>(script), options);
  }

  Call call(Duration timeout = seconds(30)) {
    Call made;
    made.request.method = Method::post;
    made.request.url = "https://api.example.com/api/v1/order/book";
    made.started = world.now;
    made.deadline = world.now + timeout;
    made.request.consumer = [](const std::shared_ptr<TokenSearch>&) {
      return std::make_unique<Keeper>();
    };
    return made;
  }

  Outcome run(Call made) {
    if (!engine) open();
    engine->submit(std::move(made));
    Outcomes outcomes;
    while (outcomes.empty()) {
      engine->pump(world.now + seconds(100));
      outcomes = engine->take().outcomes;
    }
    return std::move(outcomes.front());
  }

  Error fail(Call made) {
    const Outcome outcome = run(std::move(made));
    REQUIRE(outcome.error);
    try {
      std::rethrow_exception(outcome.error);
    } catch (const Error& error) {
      return error;
    }
  }

  std::vector<double> gaps() const {  // milliseconds between the requests
    std::vector<double> result;
    for (std::size_t i = 1; i < script.sent.size(); ++i) {
      result.push_back(to_seconds(script.sent[i].at - script.sent[i - 1].at) * 1000);
    }
    return result;
  }
};

inline std::string text(const Outcome& outcome) {
  return std::string(outcome.table->buffers().front().view());
}

}  // namespace scripted
