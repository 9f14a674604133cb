#include "client/search.hpp"

#include <utility>

namespace tradingdata {

SearchRun::SearchRun(std::shared_ptr<const Client> client, std::string query, PagerOptions options,
                     std::optional<double> timeout)
    : client_(std::move(client)), query_(std::move(query)), timeout_(timeout), pager_(options) {
  call_for({options.start_page, options.page_size});  // a bad query is told now, not later
  in_flight_.clear();
}

Call SearchRun::call_for(const PageAsk& ask) {
  Call call = client_->search(query_, ask.page, ask.limit, timeout_);
  const TimePoint half_time = call.started + (call.deadline - call.started) / 2;
  in_flight_.emplace(call.id, Asked{ask, half_time, ask.page > pager_.due()});
  return call;
}

std::vector<Call> SearchRun::calls() {
  std::vector<Call> calls;
  if (const auto due = again_.extract(pager_.due())) {
    pager_.asked_again();
    calls.push_back(call_for(due.mapped()));
  }
  while (const std::optional<PageAsk> ask = pager_.ask()) calls.push_back(call_for(*ask));
  return calls;
}

std::vector<CallId> SearchRun::surplus() {
  std::vector<CallId> ids;
  if (!pager_.ended()) return ids;
  for (const auto& [id, asked] : in_flight_) ids.push_back(id);
  in_flight_.clear();
  again_.clear();
  return ids;
}

bool SearchRun::deliver(Outcome outcome) {
  const auto found = in_flight_.find(outcome.id);
  if (found == in_flight_.end()) return false;
  const Asked asked = found->second;
  in_flight_.erase(found);
  if (outcome.error) {
    failed(asked, outcome.error);
    return true;
  }
  Fetched page = fetched(std::move(outcome));
  PageContent content = page_content(*page.table);
  fetched_.insert_or_assign(asked.ask.page, std::move(page));
  pager_.receive(asked.ask.page, std::move(content));
  return true;
}

// Asked for ahead of its reader, a page can fail for reasons of our own: the requests before it
// left no room for it under the rate limit, or its time passed while nobody pumped.
bool SearchRun::had_no_chance(const Asked& asked, const Error& error) const {
  const bool ours = asked.half_time < waits_since_ || (asked.ahead && error.attempts == 0);
  return error.retryable && ours;
}

void SearchRun::failed(const Asked& asked, const std::exception_ptr& error) {
  const std::int64_t page = asked.ask.page;
  try {
    std::rethrow_exception(error);
  } catch (Error& wrong) {
    if (pager_.refused(page, wrong.status_code)) return;
    if (had_no_chance(asked, wrong)) {
      again_.emplace(page, asked.ask);
      return;
    }
    Error told = wrong.reworded("page " + std::to_string(page) + ": " + wrong.what());
    told.page = page;
    pager_.fail(page, std::make_exception_ptr(told));
  } catch (...) {
    pager_.fail(page, std::current_exception());
  }
}

std::optional<SearchPage> SearchRun::take() {
  std::optional<PageRows> rows = pager_.take();
  if (!rows) return std::nullopt;
  const auto found = fetched_.find(rows->page);
  SearchPage page{std::move(found->second), std::move(*rows)};
  fetched_.erase(found);
  return page;
}

Search::Search(std::shared_ptr<Client> client, std::string query, PagerOptions options,
               std::optional<double> timeout)
    : client_(std::move(client)), run_(client_, std::move(query), options, timeout) {}

void Search::close() noexcept {
  closed_ = true;
  lease_.reset();
}

void Search::send() {
  if (!lease_) lease_.emplace(client_->lease());
  for (Call& call : run_.calls()) lease_->engine().submit(std::move(call));
}

void Search::deliver() {
  for (Outcome& outcome : lease_->engine().take_all()) run_.deliver(std::move(outcome));
  for (const CallId id : run_.surplus()) lease_->engine().cancel(id);
}

// An error here would cost the page that is handed on: it is told by the `next` after it.
void Search::ask_ahead() noexcept {
  try {
    send();
    lease_->engine().pump(client_->options().sources.now());
    deliver();
  } catch (...) {
    later_ = std::current_exception();
  }
}

std::optional<SearchPage> Search::next(const Waiting& waiting) {
  if (later_) {
    close();
    std::rethrow_exception(std::exchange(later_, nullptr));
  }
  run_.caller_waits();
  while (!closed_) {
    std::optional<SearchPage> page;
    try {
      page = run_.take();
    } catch (...) {
      close();
      throw;
    }
    if (page) {
      if (!run_.pager().ended() && run_.pager().asks_ahead()) ask_ahead();
      return page;
    }
    if (run_.done()) {
      close();
      break;
    }
    send();
    lease_->wait(waiting);
    deliver();
  }
  return std::nullopt;
}

}  // namespace tradingdata
