// The states of calls and the order in which they become due.
#include "client/engine.hpp"

#include <doctest/doctest.h>

using namespace tradingdata;
using detail::CallState;
using detail::PendingCall;
using detail::PendingCalls;

namespace {

TimePoint at(int second) {
  return TimePoint(std::chrono::seconds(second));
}

PendingCall& add(PendingCalls& calls, int started, int deadline) {
  Call call;
  call.started = at(started);
  call.deadline = at(deadline);
  return calls.add(call);
}

}  // namespace

TEST_CASE("a call is due at the time of its state, whatever state it was in before") {
  PendingCalls calls;
  PendingCall& call = add(calls, 5, 60);
  CHECK(calls.next_due(at(4)) == nullptr);
  CHECK(calls.next_due(at(5)) == &call);
  int second = 10;
  for (const CallState from : {CallState::waiting, CallState::paced, CallState::in_flight}) {
    for (const CallState to : {CallState::waiting, CallState::paced, CallState::in_flight}) {
      calls.move(call, from, at(second));
      calls.move(call, to, at(second + 1));
      CHECK(call.state() == to);
      CHECK(calls.in_flight() == (to == CallState::in_flight));
      CHECK(calls.next_ready() == nullptr);
      CHECK(calls.next_due(at(second)) == nullptr);
      CHECK(calls.next_due(at(second + 1)) == &call);
      CHECK(calls.next_event() == at(second + 1));
      second += 2;
    }
  }
  calls.remove(call);
  CHECK(calls.empty());
  CHECK(calls.in_flight() == 0);
  CHECK(calls.next_event() == TimePoint::max());
}

TEST_CASE("of the ready calls, the one with the nearest deadline comes first, and is due then") {
  PendingCalls calls;
  PendingCall& later = add(calls, 0, 30);
  PendingCall& sooner = add(calls, 0, 20);
  PendingCall& waiting = add(calls, 0, 10);
  calls.move(waiting, CallState::waiting, at(40));
  calls.move(later, CallState::ready, at(30));
  calls.move(sooner, CallState::ready, at(20));
  CHECK(calls.next_ready() == &sooner);
  CHECK(calls.next_due(at(19)) == nullptr);
  CHECK(calls.next_due(at(20)) == &sooner);
  calls.move(sooner, CallState::in_flight, at(50));
  CHECK(calls.next_ready() == &later);
  CHECK(calls.next_event() == at(30));
  CHECK(calls.find(later.call.id) == &later);
  calls.remove(later);
  CHECK(calls.next_ready() == nullptr);
  CHECK(calls.next_event() == at(40));
}
