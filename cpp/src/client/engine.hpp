// Calls over one transport: attempts, back-off, rate limit and deadline. Nothing here sleeps or has
// a thread; the thread that waits pumps it. PendingCalls keeps the states of calls; what each
// state leads to is decided by the engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/platform.hpp"
#include "client/retry.hpp"
#include "client/verdict.hpp"
#include "http/http.hpp"

namespace tradingdata {

struct Outcome {
  CallId id = 0;
  TablePtr table;
  std::exception_ptr error;  // an Error, or whatever else ended the call
  int status_code = 0;
  int attempts = 0;
  double elapsed = 0;            // seconds
  std::int64_t received_at = 0;  // microseconds since the epoch, UTC
  // Seconds since the epoch by the service's clock: the Date header.
  std::optional<std::int64_t> served_at;
};

struct RetryRecord {
  CallId call = 0;
  int attempt = 0;  // the one that failed, from 1
  std::string reason;
  double delay = 0;  // seconds until the next
};

// Lists, since they are spliced from owner to owner: passing on an outcome needs no memory, which
// may be what ran out.
using Outcomes = std::list<Outcome>;

struct Events {
  Outcomes outcomes;
  std::list<RetryRecord> retries;
};

CallId next_call_id();

struct Call {
  CallId id = next_call_id();
  Request request;
  TimePoint started;   // when the caller made it
  TimePoint deadline;  // over all attempts and the time between them
  // The latest start that the rate limit may assign to the first attempt, if before the deadline.
  TimePoint start_by = TimePoint::max();
  Outcomes outcome = Outcomes(1);  // allocated with the call, so that a call can always end
};

// Counts of what a client has done so far. Thread-safe.
struct Stats {
  using Count = std::atomic<std::int64_t>;

  Count calls = 0;        // that ended, well or not
  Count failures = 0;     // calls that ended with an error
  Count attempts = 0;     // requests sent
  Count retries = 0;      // attempts after the first of a call
  Count connections = 0;  // responses over a new connection
  Count reused = 0;       // responses over a kept one
  Count bytes_sent = 0;   // on the wire, headers included
  Count bytes_received = 0;
};

}  // namespace tradingdata

namespace tradingdata::detail {

enum class CallState : std::uint8_t {
  waiting,    // for the time of its first attempt, or for the end of a back-off
  paced,      // for the slot that the rate limit gave it
  ready,      // for room in the transport
  in_flight,  // for its response
};

class PendingCall {
 public:
  explicit PendingCall(Call&& made) noexcept : call(std::move(made)), due_(call.started) {}

  CallState state() const { return state_; }

  Call call;
  int attempts = 0;
  int quota_taken = 0;        // by the last retry
  bool retried_once = false;  // what may be retried once only
  std::string last_failure;

 private:
  friend class PendingCalls;
  CallState state_ = CallState::waiting;
  TimePoint due_;
};

// The calls of one engine that have not ended. Every change of state is made here. A call is in one
// of two orders, that of its state, and moving it carries its node over: no move can fail for lack
// of memory.
class PendingCalls {
 public:
  // Waiting until it starts. Throws std::bad_alloc, and leaves `call` as it is then.
  PendingCall& add(Call& call);

  // `due` is when it will be `next_due`. A ready call is due at its deadline: the nearest one is
  // the first to start, and the first to be given up.
  void move(PendingCall& call, CallState state, TimePoint due) noexcept;
  void remove(PendingCall& call) noexcept;

  // Null where there is none.
  PendingCall* find(CallId id) noexcept;
  PendingCall* next_ready() noexcept { return first_of(ready_); }
  PendingCall* next_due(TimePoint now) noexcept;  // never a ready one whose deadline is ahead
  bool empty() const noexcept { return calls_.empty(); }
  PendingCall* any() noexcept { return calls_.empty() ? nullptr : &calls_.begin()->second; }

  TimePoint next_event() const noexcept;  // when there will be one that is due
  std::int64_t in_flight() const noexcept { return in_flight_; }

 private:
  using Order = std::set<std::pair<TimePoint, CallId>>;

  Order& order_of(CallState state) noexcept { return state == CallState::ready ? ready_ : timed_; }
  PendingCall* first_of(const Order& order) noexcept;

  std::map<CallId, PendingCall> calls_;
  Order timed_;
  Order ready_;
  std::int64_t in_flight_ = 0;
};

}  // namespace tradingdata::detail

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

  Events take() noexcept;

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
  void decode(Pending& pending, Response& response);
  void failed(Pending& pending, const Verdict& verdict);
  std::optional<Duration> plan(Pending& pending, const Verdict& verdict, std::string& note);

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
  Events events_;
  bool news_ = false;  // an outcome or a retry that no pump has reported yet
};

}  // namespace tradingdata
