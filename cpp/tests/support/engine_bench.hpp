// An engine on a scripted transport and a fake clock, and what a test asks of it.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/scripted.hpp"

namespace scripted {

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
    made.judge = [](Response& response, const Secrets&) {
      return std::make_shared<std::string>(response.body.view());
    };
    return made;
  }

  Outcome run(Call made) {
    if (!engine) open();
    engine->submit(std::move(made));
    Outcomes outcomes;
    while (outcomes.empty()) {
      engine->pump(world.now + seconds(100));
      outcomes = engine->take_all();
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
  return *std::static_pointer_cast<const std::string>(outcome.result);
}

}  // namespace scripted
