// Sends the pager's requests on a leased engine, and prefetches only while the rate limit and the
// deadline allow it.
#include "client/search.hpp"

#include <utility>

namespace tradingdata {

Search::Search(std::shared_ptr<Client> client, std::string query, PagerOptions options,
               std::optional<double> timeout)
    : client_(std::move(client)), query_(std::move(query)), timeout_(timeout), pager_(options) {
  call_for({options.start_page, options.page_size});  // throws for a bad query now, not later
  in_flight_.clear();
}

Call Search::call_for(const PageRequest& request) {
  Call call = client_->search(query_, request.page, request.limit, timeout_);
  const TimePoint half_time = call.started + (call.deadline - call.started) / 2;
  const bool ahead = request != pager_.due();
  // Prefetched pages leave slots of the rate limit for the page that the reader waits for, which
  // would otherwise get one just before its deadline.
  if (ahead) call.start_by = half_time;
  in_flight_.emplace(call.id, Sent{request, half_time, ahead});
  return call;
}

std::vector<Call> Search::calls() {
  std::vector<Call> calls;
  if (!pager_.ended() && again_.erase(pager_.due()) > 0) {
    pager_.sent_again();
    calls.push_back(call_for(pager_.due()));
  }
  while (const auto request = pager_.next_request()) calls.push_back(call_for(*request));
  return calls;
}

std::vector<CallId> Search::surplus() {
  std::vector<CallId> ids;
  if (!pager_.ended()) return ids;
  for (const auto& [id, sent] : in_flight_) ids.push_back(id);
  in_flight_.clear();
  again_.clear();
  return ids;
}

void Search::deliver(const Outcome& outcome) {
  const auto found = in_flight_.find(outcome.id);
  if (found == in_flight_.end()) return;
  const Sent sent = found->second;
  in_flight_.erase(found);
  if (outcome.error) return failed(sent, outcome.error);
  PageContent content = page_content(*table_of(outcome));
  arrived_.insert_or_assign(sent.request, outcome);
  pager_.receive(sent.request, std::move(content));
}

// A prefetched page can fail for reasons of our own: the requests before it left no room for it
// under the rate limit, or its time passed while the engine was not pumped.
bool Search::had_no_chance(const Sent& sent, const Error& error) const {
  const bool ours = sent.half_time < waits_since_ || (sent.ahead && error.attempts == 0);
  return error.retryable && ours;
}

void Search::failed(const Sent& sent, const std::exception_ptr& error) {
  const std::int64_t page = sent.request.page;
  try {
    std::rethrow_exception(error);
  } catch (Error& wrong) {
    if (had_no_chance(sent, wrong)) {
      again_.insert(sent.request);
      return;
    }
    Error shown = wrong.reworded("page " + std::to_string(page) + ": " + wrong.what());
    shown.page = page;
    pager_.fail(sent.request, wrong.status_code, std::make_exception_ptr(shown));
  } catch (...) {
    pager_.fail(sent.request, 0, std::current_exception());
  }
}

std::optional<SearchPage> Search::take() {
  std::optional<PageRows> rows = pager_.take();
  if (!rows) return std::nullopt;
  const auto found = arrived_.find(rows->source);
  SearchPage page{std::move(found->second), std::move(*rows)};
  arrived_.erase(found);
  return page;
}

void Search::close() noexcept {
  closed_ = true;
  engine_.reset();
}

void Search::send() {
  if (!engine_) engine_ = client_->lease();
  for (Call& call : calls()) engine_->submit(std::move(call));
}

void Search::receive() {
  for (const Outcome& outcome : engine_->take_all()) deliver(outcome);
  for (const CallId id : surplus()) engine_->cancel(id);
}

// An error here would lose the page that is about to be returned: the following `next` throws it.
void Search::prefetch() noexcept {
  try {
    send();
    engine_->pump(client_->options().sources.now());
    receive();
  } catch (...) {
    later_ = std::current_exception();
  }
}

std::optional<SearchPage> Search::wait() {
  if (later_) {
    close();
    std::rethrow_exception(std::exchange(later_, nullptr));
  }
  if (closed_) return std::nullopt;
  if (!std::exchange(waiting_, true)) waits_since_ = client_->options().sources.now();
  std::optional<SearchPage> page = take();
  if (!page && !done()) {
    send();
    client_->wait(*engine_);
    receive();
    page = take();
  }
  if (page) {
    waiting_ = false;
    if (!pager_.ended() && pager_.prefetches()) prefetch();
  } else if (done()) {
    close();
  }
  return page;
}

RetryRecords Search::take_retries() noexcept {
  return engine_ ? engine_->take_retries() : RetryRecords();
}

}  // namespace tradingdata
