// The calls of one engine that have not ended, and what each of them waits for.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "client/call.hpp"

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

// Every change of state is made here. A call is in one of two orders, that of its state, and moving
// it carries its node over: no move can fail for lack of memory.
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
