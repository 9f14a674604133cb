// Calls over one transport: attempts, back-off, rate limit and deadline. Nothing here sleeps or has
// a thread; the thread that waits pumps it.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
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

struct EngineOptions {
  RetryPolicy retry;
  Duration connect_timeout = std::chrono::seconds(5);
  std::int64_t max_in_flight = 100;  // further calls wait their turn
  std::shared_ptr<RetryQuota> quota = std::make_shared<RetryQuota>();
  std::shared_ptr<RateLimit> rate_limit;  // may be none
  Sources sources = system_sources();
};

// One thread at a time; only `wake` may be called from another. Whatever goes wrong with a call is
// its outcome, memory that runs out included.
class Engine {
 public:
  Engine(std::unique_ptr<Transport> transport, EngineOptions options);

  void submit(Call call) noexcept;  // for the next pump

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
  enum class State : std::uint8_t {
    waiting,    // for the time of its first attempt, or for the end of a back-off
    paced,      // for the slot that the rate limit gave it
    ready,      // for room in the transport
    in_flight,  // for its response
  };

  // A call that has not ended.
  struct Pending {
    explicit Pending(Call&& made) noexcept : call(std::move(made)), due(call.started) {}

    Call call;
    State state = State::waiting;
    TimePoint due;  // when it goes on; its deadline, while it is ready
    int attempts = 0;
    int quota_taken = 0;        // by the last retry
    bool retried_once = false;  // what may be retried once only
    std::string last_failure;
  };

  // What these throw ends the call.
  void go_on(Pending& pending, TimePoint now);
  void pace(Pending& pending, TimePoint now);
  void start(Pending& pending, TimePoint now);
  void settle(Pending& pending, Arrival& arrival);
  void responded(Pending& pending, Response& response);
  void decode(Pending& pending, Response& response);
  void failed(Pending& pending, const Verdict& verdict);
  std::optional<Duration> plan(Pending& pending, const Verdict& verdict, std::string& note);

  void move(Pending& pending, State state, TimePoint due) noexcept;
  void remove(const Pending& pending) noexcept;
  template <typename Step>
  bool attempt(Pending& pending, const Step& step) noexcept;
  void advance() noexcept;
  bool carry(TimePoint until);
  void stop(Pending& pending) noexcept;
  void end(Pending& pending, const std::exception_ptr& error) noexcept;
  void conclude(Call& call, int attempts, Outcome outcome) noexcept;
  Error in_context(const Pending& pending, const Error& error) const;

  std::unique_ptr<Transport> transport_;
  EngineOptions options_;
  std::map<CallId, Pending> calls_;  // in the order in which they were made
  std::int64_t in_flight_ = 0;
  TimePoint next_due_;  // of all calls
  std::vector<Arrival> arrivals_;
  Events events_;
  bool news_ = false;  // an outcome or a retry that no pump has reported yet
};

}  // namespace tradingdata
