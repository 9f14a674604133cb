#include "client/engine.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "client/status_errors.hpp"

namespace tradingdata {

namespace {

// The transport ends a call at its deadline and knows what it was waiting for then; only where it
// has not by this much later is it told to.
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

void Engine::submit(Call call) {
  const CallId id = call.id;
  Flight flight;
  flight.not_before = call.started;
  flight.call = std::move(call);
  waiting_.emplace(flight.not_before, id);
  deadlines_.emplace(flight.call.deadline, id);
  flights_.emplace(id, std::move(flight));
  start_due();
}

bool Engine::pump(TimePoint until) {
  while (true) {
    start_due();
    expire();
    const TimePoint now = options_.sources.now();
    arrivals_.clear();
    const bool woken = transport_->pump(news_ ? now : std::min(until, next_event()), arrivals_);
    for (Arrival& arrival : arrivals_) settle(std::move(arrival));
    start_due();
    if (std::exchange(news_, false)) return true;
    if (woken || options_.sources.now() >= until) return false;
  }
}

std::optional<Outcome> Engine::take(CallId id) {
  const auto found = std::find_if(outcomes_.begin(), outcomes_.end(),
                                  [id](const Outcome& outcome) { return outcome.id == id; });
  if (found == outcomes_.end()) return std::nullopt;
  Outcome outcome = std::move(*found);
  outcomes_.erase(found);
  return outcome;
}

std::vector<Outcome> Engine::take_all() {
  return std::exchange(outcomes_, {});
}

std::vector<RetryRecord> Engine::take_retries() {
  return std::exchange(retries_, {});
}

void Engine::deactivate(Flight& flight) noexcept {
  if (!flight.active) return;
  flight.active = false;
  --active_;
}

void Engine::cancel(CallId id) noexcept {
  std::erase_if(outcomes_, [id](const Outcome& outcome) { return outcome.id == id; });
  const auto found = flights_.find(id);
  if (found == flights_.end()) return;
  Flight& flight = found->second;
  if (flight.active) transport_->cancel(id);
  deactivate(flight);
  waiting_.erase({flight.not_before, id});
  deadlines_.erase({flight.call.deadline, id});
  flights_.erase(found);
}

void Engine::cancel_all() noexcept {
  while (!flights_.empty()) cancel(flights_.begin()->first);
  outcomes_.clear();
  retries_.clear();
}

void Engine::start_due() {
  while (!waiting_.empty() && active_ < options_.max_in_flight) {
    const TimePoint now = options_.sources.now();
    const auto [due, id] = *waiting_.begin();
    if (due > now) return;
    waiting_.erase(waiting_.begin());
    const auto position = flights_.find(id);
    Flight& flight = position->second;
    if (now >= flight.call.deadline) {
      finish_with(position, Error(ErrorKind::deadline, "the time was up before it was sent"));
    } else if (take_slot(flight, now)) {
      try {
        start(flight, now);
      } catch (const Error& error) {
        finish_with(position, error);
      }
    } else if (flight.has_slot) {
      waiting_.emplace(flight.not_before, id);
    } else {
      finish_with(position, Error(ErrorKind::deadline,
                                  "the rate limit leaves no room for it before the deadline; ask "
                                  "less often, or give a longer timeout="));
    }
  }
}

// Whether it may start now. If not, and it has a slot, that slot is when.
bool Engine::take_slot(Flight& flight, TimePoint now) {
  if (!options_.rate_limit || flight.has_slot) return true;
  const auto slot = options_.rate_limit->reserve(now, flight.call.deadline);
  if (!slot) return false;
  flight.has_slot = true;
  flight.not_before = *slot;
  return *slot <= now;
}

void Engine::start(Flight& flight, TimePoint now) {
  const TimeLimits limits{flight.call.deadline - now, options_.connect_timeout};
  transport_->start(flight.call.id, flight.call.request, limits);
  flight.active = true;
  flight.has_slot = false;
  ++flight.attempts;
  ++active_;
  ++options_.stats->attempts;
  if (flight.attempts > 1) ++options_.stats->retries;
}

void Engine::expire() {
  while (!deadlines_.empty() && deadlines_.begin()->first + grace <= options_.sources.now()) {
    const auto position = flights_.find(deadlines_.begin()->second);
    Flight& flight = position->second;
    if (flight.active) transport_->cancel(flight.call.id);
    deactivate(flight);
    finish_with(position, Error(ErrorKind::deadline, "the time was up"));
  }
}

TimePoint Engine::next_event() const {
  TimePoint next = TimePoint::max();
  if (!deadlines_.empty()) next = deadlines_.begin()->first + grace;
  if (!waiting_.empty() && active_ < options_.max_in_flight) {
    next = std::min(next, waiting_.begin()->first);
  }
  return next;
}

void Engine::settle(Arrival arrival) {
  const auto position = flights_.find(arrival.id);
  if (position == flights_.end()) return;
  Flight& flight = position->second;
  deactivate(flight);
  if (auto* response = std::get_if<Response>(&arrival.what)) return answered(position, *response);
  const auto& failure = std::get<Failure>(arrival.what);
  options_.stats->bytes_received += failure.bytes_received;
  Error error(failure.kind, failure.message);
  error.retryable = failure.retry != Retry::never || failure.kind == ErrorKind::deadline;
  failed(position, detail::without_token(flight.call.request, error), failure.retry,
         failure.timeout);
}

void Engine::answered(Flights::iterator position, Response& response) {
  Stats& stats = *options_.stats;
  ++(response.reused ? stats.reused : stats.connections);
  stats.bytes_sent += response.bytes_sent;
  stats.bytes_received += response.bytes_received;
  const bool empty =
      response.status == 204 || (response.status == 200 && response.body.size() == 0);
  if (empty) {
    failed(position, detail::empty_body(response.status), Retry::once, false);
  } else if (response.status == 200) {
    judge(position, response);
  } else {
    const detail::Verdict verdict = detail::verdict_of_status(
        position->second.call.request, response, options_.sources.wall_micros());
    failed(position, detail::without_token(position->second.call.request, verdict.error),
           verdict.retry, false);
  }
}

void Engine::judge(Flights::iterator position, Response& response) {
  Flight& flight = position->second;
  const Request& request = flight.call.request;
  const std::string head = detail::raw_head(response.body.view());
  Outcome outcome;
  outcome.status_code = response.status;
  try {
    outcome.result = flight.call.judge(response);
  } catch (const Error& thrown) {
    Error error = detail::without_token(request, thrown);
    error.status_code = response.status;
    if (error.body.empty()) error.body = detail::safe_head(request, head);
    if (!error.incomplete || !response.close_delimited) {
      return failed(position, error, Retry::never, false);
    }
    Error cut =
        error.reworded(std::string("incomplete body: the connection ended inside the answer (") +
                       error.what() + ")");
    cut.kind = ErrorKind::transport;
    cut.retryable = true;
    return failed(position, cut, Retry::always, false);
  } catch (...) {
    outcome.error = std::current_exception();
  }
  if (!outcome.error) options_.quota->release(flight.quota_taken);
  finish(position, std::move(outcome));
}

void Engine::failed(Flights::iterator position, Error error, Retry retry, bool timeout) {
  Flight& flight = position->second;
  std::string note;
  const std::optional<Duration> delay = plan(flight, error, retry, timeout, note);
  if (!delay)
    return finish_with(position, note.empty() ? error : error.reworded(error.what() + note));
  flight.last_failure = error.what();
  flight.not_before = options_.sources.now() + *delay;
  waiting_.emplace(flight.not_before, flight.call.id);
  news_ = true;
  retries_.push_back({flight.call.id, flight.attempts, error.what(), to_seconds(*delay)});
}

// How long to wait before the next attempt; nothing where there shall be none.
std::optional<Duration> Engine::plan(Flight& flight, const Error& error, Retry retry, bool timeout,
                                     std::string& note) {
  if (retry == Retry::never || (retry == Retry::once && flight.used_once)) return std::nullopt;
  if (flight.attempts >= options_.retry.attempts) return std::nullopt;
  Duration delay = options_.retry.backoff(flight.attempts - 1, options_.sources.random());
  if (error.retry_after) {
    const Duration asked = from_seconds(*error.retry_after);
    if (asked > options_.retry.longest_retry_after) {
      note =
          " (it asks to wait " + in_seconds(*error.retry_after) + ", longer than is waited here)";
      return std::nullopt;
    }
    delay = std::max(delay, asked);
  }
  if (options_.sources.now() + delay >= flight.call.deadline) {
    note = " (not tried again: the deadline is nearer than the next attempt)";
    return std::nullopt;
  }
  flight.quota_taken = options_.quota->acquire(timeout);
  if (flight.quota_taken == 0) {
    note = " (not tried again: too many calls failed of late, and the retry quota is spent)";
    return std::nullopt;
  }
  if (retry == Retry::once) flight.used_once = true;
  return delay;
}

Error Engine::in_context(const Flight& flight, const Error& error) const {
  const double elapsed = to_seconds(options_.sources.now() - flight.call.started);
  std::string message = flight.call.request.target() + ": " + error.what();
  if (flight.attempts > 1) {
    message += " (" + std::to_string(flight.attempts) + " attempts in " + in_seconds(elapsed) + ")";
  } else if (error.kind == ErrorKind::deadline) {
    message += " (after " + in_seconds(elapsed) + ")";
  }
  if (error.kind == ErrorKind::deadline && !flight.last_failure.empty()) {
    message += "; before that: " + flight.last_failure;
  }
  Error result = error.reworded(message);
  result.attempts = flight.attempts;
  result.elapsed = elapsed;
  if (result.kind == ErrorKind::deadline) result.retryable = true;
  return result;
}

void Engine::finish_with(Flights::iterator position, Error error) {
  Outcome outcome;
  outcome.status_code = error.status_code;
  outcome.error = std::make_exception_ptr(in_context(position->second, error));
  finish(position, std::move(outcome));
}

void Engine::finish(Flights::iterator position, Outcome outcome) {
  const Flight& flight = position->second;
  ++options_.stats->calls;
  if (outcome.error) ++options_.stats->failures;
  outcome.id = flight.call.id;
  outcome.attempts = flight.attempts;
  outcome.elapsed = to_seconds(options_.sources.now() - flight.call.started);
  outcome.received_at = options_.sources.wall_micros();
  waiting_.erase({flight.not_before, flight.call.id});
  deadlines_.erase({flight.call.deadline, flight.call.id});
  flights_.erase(position);
  news_ = true;
  outcomes_.push_back(std::move(outcome));
}

}  // namespace tradingdata
