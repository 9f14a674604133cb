// A clock that only moves when somebody waits, and a transport that responds as a test says.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/engine.hpp"

namespace scripted {

using namespace tradingdata;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct World {
  TimePoint now = TimePoint(std::chrono::hours(1000));
  std::int64_t wall_micros = 1'700'000'000'000'000;
  std::vector<double> draws;  // of the random source, used up from the front; then 0.5
  std::size_t drawn = 0;

  Sources sources() {
    return {[this] { return now; }, [this] { return wall_micros; },
            [this] { return drawn < draws.size() ? draws[drawn++] : 0.5; }};
  }
};

struct Reply {
  std::variant<Response, Failure> what;
  Duration after = milliseconds(10);
};

inline Reply response(int status, std::string_view body, Duration after = milliseconds(10)) {
  Response response;
  response.status = status;
  response.body = Buffer(body);
  return {std::move(response), after};
}

inline Reply refusal(int status, std::string_view retry_after,
                     std::optional<std::string> date = std::nullopt) {
  Reply reply = response(status, "");
  std::get<Response>(reply.what).retry_after = retry_after;
  std::get<Response>(reply.what).date = std::move(date);
  return reply;
}

inline Reply failure(ErrorKind kind, Retry retry, std::string message = "it broke",
                     bool timeout = false) {
  return {Failure{kind, retry, std::move(message), advice::none, timeout}, milliseconds(10)};
}

struct Sent {
  TimePoint at;
  std::string target;
  std::string url;
};

// What every engine of a test shares.
struct Script {
  explicit Script(World& of) : world(of) {}

  World& world;
  std::function<Reply(const Request&, int number)> reply;  // `number` counts from 0
  std::function<void()> before_pump = [] {};               // may throw, as `reply` may
  std::vector<Sent> sent;
  bool silent = false;  // nothing arrives, not even at the deadline
  int cancelled = 0;
};

class ScriptedTransport final : public Transport {
 public:
  explicit ScriptedTransport(Script& script) : script_(script) {}

  void start(CallId id, const Request& request, const TimeLimits& limits) override {
    const int number = static_cast<int>(script_.sent.size());
    const TimePoint now = script_.world.now;
    script_.sent.push_back({now, request.target(), request.url});
    Reply reply = script_.reply(request, number);
    if (reply.after > limits.total) {  // as libcurl does: the deadline is its timer too
      reply.after = limits.total;
      reply.what =
          Failure{ErrorKind::deadline, Retry::never, "the deadline passed", advice::none, true};
    }
    const TimePoint due = now + reply.after;
    due_.emplace(due, Arrival{id, std::move(reply.what)});
  }

  bool pump(TimePoint until, std::vector<Arrival>& arrivals) override {
    script_.before_pump();
    if (woken_) return std::exchange(woken_, false);
    const bool something = !script_.silent && !due_.empty() && due_.begin()->first <= until;
    if (!something && until == TimePoint::max()) throw std::logic_error("waits for ever");
    script_.world.now = std::max(script_.world.now, something ? due_.begin()->first : until);
    while (something && !due_.empty() && due_.begin()->first <= script_.world.now) {
      arrivals.push_back(std::move(due_.begin()->second));
      due_.erase(due_.begin());
    }
    return false;
  }

  void cancel(CallId id) noexcept override {
    ++script_.cancelled;
    std::erase_if(due_, [id](const auto& entry) { return entry.second.id == id; });
  }

  void wake() noexcept override { woken_ = true; }

 private:
  Script& script_;
  std::multimap<TimePoint, Arrival> due_;
  bool woken_ = false;
};

}  // namespace scripted
