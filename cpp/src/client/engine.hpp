// Calls in flight over one transport: attempts, back-off, pace and deadline. Nothing here sleeps
// and nothing here has a thread; whoever waits for an answer pumps.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "client/rate_limit.hpp"
#include "client/retry.hpp"
#include "client/stats.hpp"
#include "http/http.hpp"

namespace tradingdata {

// Makes a call's result of its answer (HTTP 200, not empty), on the pumping thread, no lock held.
// What it throws ends the call; a body that ends too early is tried again where only the
// connection's end told its length.
using Judge = std::function<std::shared_ptr<const void>(Response&)>;

CallId next_call_id();

struct Call {
  CallId id = next_call_id();
  Request request;
  TimePoint started;   // when the caller asked
  TimePoint deadline;  // over all attempts and the time between them
  Judge judge;
};

struct RetryRecord {
  CallId call = 0;
  int attempt = 0;  // the one that failed, from 1
  std::string reason;
  double delay = 0;  // seconds until the next
};

struct Outcome {
  CallId id = 0;
  std::shared_ptr<const void> result;  // the judge's
  std::exception_ptr error;            // an Error, or what the judge threw
  int status_code = 0;
  int attempts = 0;
  double elapsed = 0;            // seconds
  std::int64_t received_at = 0;  // microseconds since the epoch, UTC
};

struct EngineOptions {
  RetryPolicy retry;
  Duration connect_timeout = std::chrono::seconds(5);
  std::int64_t max_in_flight = 100;  // further calls wait their turn
  std::shared_ptr<RetryQuota> quota = std::make_shared<RetryQuota>();
  std::shared_ptr<RateLimit> rate_limit;  // may be none
  std::shared_ptr<Stats> stats = std::make_shared<Stats>();
  Sources sources = system_sources();
};

// One thread at a time; only `wake` may be called from another.
class Engine {
 public:
  Engine(std::unique_ptr<Transport> transport, EngineOptions options);

  void submit(Call call);

  // Moves things on until there is a new outcome or retry to take, `until` passed or `wake` was
  // called; true for the first. With `until` in the past it does what needs no waiting.
  bool pump(TimePoint until);

  std::optional<Outcome> take(CallId id);
  std::vector<Outcome> take_all();
  std::vector<RetryRecord> take_retries();

  void cancel(CallId id) noexcept;  // no outcome will come; unknown ids are no error
  void cancel_all() noexcept;
  void wake() noexcept { transport_->wake(); }

  bool idle() const { return flights_.empty(); }
  const Sources& sources() const { return options_.sources; }

 private:
  struct Flight {
    Call call;
    TimePoint not_before;
    int attempts = 0;
    int quota_taken = 0;
    bool active = false;     // with the transport
    bool has_slot = false;   // of the rate limit
    bool used_once = false;  // the one retry of Retry::once
    std::string last_failure;
  };
  using Flights = std::map<CallId, Flight>;

  void start_due();
  bool take_slot(Flight& flight, TimePoint now);
  void start(Flight& flight, TimePoint now);
  void expire();
  TimePoint next_event() const;
  void settle(Arrival arrival);
  void answered(Flights::iterator position, Response& response);
  void judge(Flights::iterator position, Response& response);
  void failed(Flights::iterator position, Error error, Retry retry, bool timeout);
  std::optional<Duration> plan(Flight& flight, const Error& error, Retry retry, bool timeout,
                               std::string& note);
  void finish(Flights::iterator position, Outcome outcome);
  void finish_with(Flights::iterator position, Error error);
  void deactivate(Flight& flight) noexcept;
  Error in_context(const Flight& flight, const Error& error) const;

  std::unique_ptr<Transport> transport_;
  EngineOptions options_;
  Flights flights_;
  std::set<std::pair<TimePoint, CallId>> waiting_;
  std::set<std::pair<TimePoint, CallId>> deadlines_;
  std::int64_t active_ = 0;
  std::vector<Arrival> arrivals_;
  std::vector<Outcome> outcomes_;
  std::vector<RetryRecord> retries_;
  bool news_ = false;  // an outcome or a retry that no pump has told of yet
};

}  // namespace tradingdata
