// A search over all its pages: the pager's rules joined to a client's calls.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/client.hpp"
#include "client/pager.hpp"

namespace tradingdata {

struct SearchPage {
  Fetched fetched;  // the page as it came, dropped rows and all
  PageRows rows;    // what of it to hand on
};

// Without I/O, so that a sync pager and an asynchronous one are the same: send what `calls` gives,
// hand in what comes, take pages.
class SearchRun {
 public:
  // `timeout` in seconds, a page. Throws Error (configuration).
  SearchRun(std::shared_ptr<const Client> client, std::string query, PagerOptions options,
            std::optional<double> timeout = {});

  std::vector<Call> calls();         // to submit now
  std::vector<CallId> surplus();     // to cancel now: the search ended without them
  bool deliver(Outcome outcome);     // false where the call is none of this search
  std::optional<SearchPage> take();  // throws what went wrong, in the page's turn
  bool done() const { return pager_.done(); }
  const Pager& pager() const { return pager_; }

  // Of the pages that are asked for from now on, in seconds.
  void set_timeout(double timeout) { timeout_ = timeout; }

  // The caller starts to wait now; only where nobody pumps in between.
  void caller_waits() { waits_since_ = client_->options().sources.now(); }

 private:
  struct Asked {
    PageAsk ask;
    TimePoint half_time;
    bool ahead;  // later than a page that is not there yet
  };

  Call call_for(const PageAsk& ask);
  bool had_no_chance(const Asked& asked, const Error& error) const;
  void failed(const Asked& asked, const std::exception_ptr& error);

  std::shared_ptr<const Client> client_;
  std::string query_;
  std::optional<double> timeout_;
  Pager pager_;
  TimePoint waits_since_ = TimePoint::min();
  std::map<CallId, Asked> in_flight_;
  std::map<std::int64_t, PageAsk> again_;    // by page, until it is due
  std::map<std::int64_t, Fetched> fetched_;  // by page, until it is handed on
};

// The same on one thread, pumping an engine of its own while it waits, and once a page to send
// what comes next.
class Search {
 public:
  Search(std::shared_ptr<Client> client, std::string query, PagerOptions options,
         std::optional<double> timeout = {});

  // The next page, or nothing at the end. Throws Error, with `page`, and what `waiting` throws.
  std::optional<SearchPage> next(const Waiting& waiting = {});
  void set_timeout(double timeout) { run_.set_timeout(timeout); }
  void close() noexcept;  // cancels what is in flight; `next` gives nothing more
  const Pager& pager() const { return run_.pager(); }

 private:
  void send();
  void deliver();
  void ask_ahead() noexcept;

  std::shared_ptr<Client> client_;
  SearchRun run_;
  std::optional<Lease> lease_;
  std::exception_ptr later_;  // went wrong behind a page that was to be handed on first
  bool closed_ = false;
};

}  // namespace tradingdata
