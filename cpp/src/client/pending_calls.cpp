// Keeps the calls ordered by the time at which they become due, so that the engine finds the next
// one without a scan.
#include "client/pending_calls.hpp"

#include <algorithm>

namespace tradingdata::detail {

PendingCall& PendingCalls::add(Call& call) {
  const auto place = timed_.emplace(call.started, call.id).first;
  try {
    return calls_.try_emplace(call.id, std::move(call)).first->second;
  } catch (...) {
    timed_.erase(place);
    throw;
  }
}

void PendingCalls::move(PendingCall& call, CallState state, TimePoint due) noexcept {
  Order::node_type node = order_of(call.state_).extract({call.due_, call.call.id});
  in_flight_ += (state == CallState::in_flight) - (call.state_ == CallState::in_flight);
  call.state_ = state;
  call.due_ = due;
  node.value().first = due;
  order_of(state).insert(std::move(node));
}

void PendingCalls::remove(PendingCall& call) noexcept {
  order_of(call.state_).erase({call.due_, call.call.id});
  in_flight_ -= call.state_ == CallState::in_flight;
  calls_.erase(call.call.id);
}

PendingCall* PendingCalls::find(CallId id) noexcept {
  const auto found = calls_.find(id);
  return found == calls_.end() ? nullptr : &found->second;
}

PendingCall* PendingCalls::first_of(const Order& order) noexcept {
  return order.empty() ? nullptr : find(order.begin()->second);
}

PendingCall* PendingCalls::next_due(TimePoint now) noexcept {
  for (const Order* order : {&timed_, &ready_}) {
    if (!order->empty() && order->begin()->first <= now) return first_of(*order);
  }
  return nullptr;
}

TimePoint PendingCalls::next_event() const noexcept {
  TimePoint next = TimePoint::max();
  for (const Order* order : {&timed_, &ready_}) {
    if (!order->empty()) next = std::min(next, order->begin()->first);
  }
  return next;
}

}  // namespace tradingdata::detail
