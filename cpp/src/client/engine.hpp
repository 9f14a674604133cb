// Calls over one transport: attempts, back-off, rate limit and deadline. Nothing here sleeps or has
// a thread; the thread that waits pumps it. PendingCalls keeps the states of calls; what each
// state leads to is decided here.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/platform/clock.hpp"
#include "client/call.hpp"
#include "client/pending_calls.hpp"
#include "client/rate_limit.hpp"
#include "client/retry.hpp"
#include "client/stats.hpp"
#include "http/http.hpp"

namespace tradingdata {

struct EngineOptions {
  RetryPolicy retry;
  Duration connect_timeout = std::chrono::seconds(5);
  std::int64_t max_in_flight = 100;  // further calls wait their turn
  std::shared_ptr<RetryQuota> quota = std::make_shared<RetryQuota>();
  std::shared_ptr<RateLimit> rate_limit;  // may be none
  std::shared_ptr<Stats> stats = std::make_shared<Stats>();
  Sources sources = system_sources();
};

// One thread at a time; only `wake` may be called from another. Whatever goes wrong with a call is
// its outcome, memory that runs out included.
class Engine {
 public:
  Engine(std::unique_ptr<Transport> transport, EngineOptions options);

  void submit(Call call) noexcept;

  // Moves calls on until there is a new outcome or retry to take, `until` passed or `wake` was
  // called; true for the first. With `until` in the past it does what needs no waiting. Throws what
  // the transport throws while there is no call to end with it.
  bool pump(TimePoint until);

  std::optional<Outcome> take(CallId id);
  Outcomes take_all() noexcept;
  RetryRecords take_retries() noexcept;

  void cancel(CallId id) noexcept;  // no outcome will come; unknown ids are no error
  void cancel_all() noexcept;
  void end_all(const std::exception_ptr& error) noexcept;
  void wake() noexcept { transport_->wake(); }

  bool idle() const { return calls_.empty(); }
  const Sources& sources() const { return options_.sources; }

 private:
  using Pending = detail::PendingCall;

  // What these throw ends the call.
  void go_on(Pending& pending, TimePoint now);
  void pace(Pending& pending, TimePoint now);
  void start(Pending& pending, TimePoint now);
  void settle(Pending& pending, Arrival& arrival);
  void responded(Pending& pending, Response& response);
  void judge(Pending& pending, Response& response);
  void failed(Pending& pending, const Error& error, Retry retry, bool timeout = false);
  std::optional<Duration> plan(Pending& pending, const Error& error, Retry retry, bool timeout,
                               std::string& note);

  template <typename Step>
  void attempt(Pending& pending, const Step& step) noexcept;
  void advance() noexcept;
  bool carry(TimePoint until);
  void stop(Pending& pending) noexcept;
  void end(Pending& pending, const std::exception_ptr& error) noexcept;
  void conclude(Call& call, int attempts, Outcome outcome) noexcept;
  Error in_context(const Pending& pending, const Error& error) const;

  std::unique_ptr<Transport> transport_;
  EngineOptions options_;
  detail::PendingCalls calls_;
  std::vector<Arrival> arrivals_;
  Outcomes outcomes_;
  RetryRecords retries_;
  bool news_ = false;  // an outcome or a retry that no pump has reported yet
};

}  // namespace tradingdata
