// Moves each call through its states. Whatever a step throws ends that call only, so that no call
// is forgotten and no other one fails with it.
#include "client/engine.hpp"

#include <algorithm>
#include <cstdio>

namespace tradingdata {

namespace {

// The transport ends a call at its deadline and knows what it was waiting for; the engine ends it
// only if the transport has not done so by this much later.
constexpr Duration grace = std::chrono::milliseconds(20);

constinit std::atomic<CallId> last_call_id = 0;

std::string in_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

}  // namespace

CallId next_call_id() {
  return ++last_call_id;
}

Engine::Engine(std::unique_ptr<Transport> transport, EngineOptions options)
    : transport_(std::move(transport)), options_(std::move(options)) {}

void Engine::submit(Call call) noexcept {
  try {
    calls_.try_emplace(call.id, std::move(call));  // which leaves it as it is where memory runs out
  } catch (...) {
    Outcome outcome;
    outcome.error = std::current_exception();
    conclude(call, 0, std::move(outcome));
  }
}

bool Engine::pump(TimePoint until) {
  advance();
  while (true) {
    const bool woken = carry(until);
    advance();
    if (std::exchange(news_, false)) return true;
    if (woken || options_.sources.now() >= until) return false;
  }
}

Events Engine::take() noexcept {
  return std::exchange(events_, {});
}

void Engine::cancel(CallId id) noexcept {
  events_.outcomes.remove_if([id](const Outcome& outcome) { return outcome.id == id; });
  if (const auto found = calls_.find(id); found != calls_.end()) {
    stop(found->second);
    remove(found->second);
  }
}

void Engine::cancel_all() noexcept {
  while (!calls_.empty()) cancel(calls_.begin()->first);
  events_ = {};
}

void Engine::end_all(const std::exception_ptr& error) noexcept {
  while (!calls_.empty()) {
    stop(calls_.begin()->second);
    end(calls_.begin()->second, error);
  }
}

void Engine::stop(Pending& pending) noexcept {
  if (pending.state == State::in_flight) transport_->cancel(pending.call.id);
}

void Engine::move(Pending& pending, State state, TimePoint due) noexcept {
  in_flight_ += (state == State::in_flight) - (pending.state == State::in_flight);
  pending.state = state;
  pending.due = due;
}

void Engine::remove(const Pending& pending) noexcept {
  in_flight_ -= pending.state == State::in_flight;
  calls_.erase(pending.call.id);
}

// Whatever a step throws ends its call, so that no call is ever forgotten. False if it did.
template <typename Step>
bool Engine::attempt(Pending& pending, const Step& step) noexcept {
  try {
    step();
    return true;
  } catch (...) {
    end(pending, std::current_exception());
    return false;
  }
}

// Moves on every call whose time has come, and starts as many as there is room for.
void Engine::advance() noexcept {
  const TimePoint now = options_.sources.now();
  next_due_ = TimePoint::max();
  for (auto next = calls_.begin(); next != calls_.end();) {
    Pending& pending = (next++)->second;
    const bool goes_on = attempt(pending, [&] {
      while (pending.due <= now) go_on(pending, now);  // none starts behind its deadline
      if (pending.state == State::ready && in_flight_ < options_.max_in_flight) start(pending, now);
    });
    if (goes_on) next_due_ = std::min(next_due_, pending.due);
  }
}

void Engine::go_on(Pending& pending, TimePoint now) {
  switch (pending.state) {
    case State::waiting: return pace(pending, now);
    case State::paced: return move(pending, State::ready, pending.call.deadline);
    case State::ready:
      throw Error(ErrorKind::deadline, "the deadline passed before the request was sent",
                  advice::timeout);
    case State::in_flight:
      stop(pending);
      throw Error(ErrorKind::deadline, "the deadline passed", advice::timeout);
  }
}

void Engine::pace(Pending& pending, TimePoint now) {
  const TimePoint deadline = pending.call.deadline;
  if (options_.rate_limit) {
    const TimePoint latest =
        pending.attempts > 0 ? deadline : std::min(deadline, pending.call.start_by);
    const auto slot = options_.rate_limit->reserve(now, latest);
    if (!slot) {
      throw Error(ErrorKind::deadline, "the rate limit delays the request beyond its deadline",
                  advice::timeout);
    }
    if (*slot > now) return move(pending, State::paced, *slot);
  }
  move(pending, State::ready, deadline);
}

void Engine::start(Pending& pending, TimePoint now) {
  const Call& call = pending.call;
  transport_->start(call.id, call.request, {call.deadline - now, options_.connect_timeout});
  move(pending, State::in_flight, call.deadline + grace);
  ++pending.attempts;
}

bool Engine::carry(TimePoint until) {
  bool woken = false;
  std::exception_ptr broken;
  arrivals_.clear();
  try {
    const TimePoint next = news_ ? options_.sources.now() : next_due_;
    woken = transport_->pump(std::min(until, next), arrivals_);
  } catch (...) {
    broken = std::current_exception();  // after what has arrived until then
  }
  for (Arrival& arrival : arrivals_) {
    const auto found = calls_.find(arrival.id);
    if (found != calls_.end()) attempt(found->second, [&] { settle(found->second, arrival); });
  }
  if (broken && idle() && events_.outcomes.empty()) std::rethrow_exception(broken);
  if (broken) end_all(broken);
  return woken;
}

void Engine::settle(Pending& pending, Arrival& arrival) {
  if (auto* response = std::get_if<Response>(&arrival.what)) return responded(pending, *response);
  failed(pending, verdict(pending.call.request, std::get<Failure>(arrival.what)));
}

void Engine::responded(Pending& pending, Response& response) {
  if (has_content(response)) return decode(pending, response);
  Verdict refusal = verdict(pending.call.request, response, options_.sources.wall_micros());
  if (response.date) refusal.error.served_at = parse_http_date(*response.date);
  failed(pending, refusal);
}

void Engine::decode(Pending& pending, Response& response) {
  Outcome outcome;
  outcome.status_code = response.status;
  if (response.date) outcome.served_at = parse_http_date(*response.date);
  try {
    const Request& request = pending.call.request;
    if (!response.consumer) response.consumer = request.consumer(request.secrets());
    outcome.table = response.consumer->finish(std::move(response.body));
  } catch (Error& refusal) {
    refusal.status_code = response.status;
    refusal.served_at = outcome.served_at;
    return failed(pending, verdict(refusal));
  }
  options_.quota->release(pending.quota_taken);
  conclude(pending.call, pending.attempts, std::move(outcome));
  remove(pending);
}

// Throws the error that ends the call, unless there is another attempt.
void Engine::failed(Pending& pending, const Verdict& verdict) {
  const Error& error = verdict.error;
  std::string note;
  const std::optional<Duration> delay = plan(pending, verdict, note);
  if (!delay) throw error.reworded(error.what() + note);
  events_.retries.push_back({pending.call.id, pending.attempts, error.what(), to_seconds(*delay)});
  news_ = true;
  pending.last_failure = error.what();
  move(pending, State::waiting, options_.sources.now() + *delay);
}

// How long to wait before the next attempt; nothing if there is none.
std::optional<Duration> Engine::plan(Pending& pending, const Verdict& verdict, std::string& note) {
  const std::optional<double>& retry_after = verdict.error.retry_after;
  if (verdict.retry == Retry::never) return std::nullopt;
  if (verdict.retry == Retry::once && pending.retried_once) return std::nullopt;
  if (pending.attempts >= options_.retry.attempts) return std::nullopt;
  Duration delay = options_.retry.backoff(pending.attempts - 1, options_.sources.random());
  if (retry_after) {
    const Duration asked = from_seconds(*retry_after);
    if (asked > options_.retry.longest_retry_after) {
      note = " (not retried: the service requires a wait of " + in_seconds(*retry_after) + ")";
      return std::nullopt;
    }
    delay = std::max(delay, asked);
  }
  if (options_.sources.now() + delay >= pending.call.deadline) {
    note = " (not retried: the deadline is before the next attempt)";
    return std::nullopt;
  }
  pending.quota_taken = options_.quota->acquire(verdict.timeout);
  if (pending.quota_taken == 0) {
    note = " (not retried: too many recent calls failed, so the retry quota is used up)";
    return std::nullopt;
  }
  if (verdict.retry == Retry::once) pending.retried_once = true;
  return delay;
}

Error Engine::in_context(const Pending& pending, const Error& error) const {
  const double elapsed = to_seconds(options_.sources.now() - pending.call.started);
  std::string message = pending.call.request.target() + ": " + error.what();
  if (pending.attempts > 1) {
    message +=
        " (" + std::to_string(pending.attempts) + " attempts in " + in_seconds(elapsed) + ")";
  } else if (error.kind == ErrorKind::deadline) {
    message += " (after " + in_seconds(elapsed) + ")";
  }
  if (error.kind == ErrorKind::deadline && !pending.last_failure.empty()) {
    message += "; before that: " + pending.last_failure;
  }
  Error result = error.reworded(message);
  result.attempts = pending.attempts;
  result.elapsed = elapsed;
  if (result.kind == ErrorKind::deadline) result.passing = true;
  return result;
}

// Nothing may throw here: if there is no memory for an error's message, that becomes the error.
void Engine::end(Pending& pending, const std::exception_ptr& error) noexcept {
  Outcome outcome;
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    outcome.status_code = known.status_code;
    try {
      outcome.error = std::make_exception_ptr(in_context(pending, known));
    } catch (...) {
      outcome.error = std::current_exception();
    }
  } catch (...) {
    outcome.error = error;
  }
  conclude(pending.call, pending.attempts, std::move(outcome));
  remove(pending);
}

void Engine::conclude(Call& call, int attempts, Outcome outcome) noexcept {
  outcome.id = call.id;
  outcome.attempts = attempts;
  outcome.elapsed = to_seconds(options_.sources.now() - call.started);
  outcome.received_at = options_.sources.wall_micros();
  call.outcome.front() = std::move(outcome);
  events_.outcomes.splice(events_.outcomes.end(), call.outcome);
  news_ = true;
}

}  // namespace tradingdata
