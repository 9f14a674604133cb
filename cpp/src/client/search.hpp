// A search over all its pages: sends the pager's requests as calls of a client and returns their
// outcomes to it. The rules are the pager's.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/client.hpp"
#include "client/pager.hpp"

namespace tradingdata {

struct SearchPage {
  Outcome outcome;  // the page as received, dropped rows included
  PageRows rows;    // which of its rows to yield
};

// Without I/O, so that it serves synchronous and asynchronous callers alike: submit `calls`,
// deliver their outcomes, take pages.
class SearchRun {
 public:
  // `timeout` in seconds, a page. Throws Error (configuration).
  SearchRun(std::shared_ptr<const Client> client, std::string query, PagerOptions options,
            std::optional<double> timeout = {});

  std::vector<Call> calls();             // to submit now
  std::vector<CallId> surplus();         // to cancel now: the search ended without them
  void deliver(const Outcome& outcome);  // ignores that of another search's call
  std::optional<SearchPage> take();      // throws the error of a page in that page's turn
  bool done() const { return pager_.done(); }
  const Pager& pager() const { return pager_; }

  // Seconds for each page that is requested from now on.
  void set_timeout(double timeout) { timeout_ = timeout; }

  // Notes that the caller starts to wait; only for callers that do not pump in between.
  void caller_waits() { waits_since_ = client_->options().sources.now(); }

 private:
  struct Sent {
    PageRequest request;
    TimePoint half_time;
    bool ahead;  // of a page that has not arrived yet
  };

  Call call_for(const PageRequest& request);
  bool had_no_chance(const Sent& sent, const Error& error) const;
  void failed(const Sent& sent, const std::exception_ptr& error);

  std::shared_ptr<const Client> client_;
  std::string query_;
  std::optional<double> timeout_;
  Pager pager_;
  TimePoint waits_since_ = TimePoint::min();
  std::map<CallId, Sent> in_flight_;
  std::set<PageRequest> again_;             // to be sent again once due
  std::map<PageRequest, Outcome> arrived_;  // until taken
};

// The same on the caller's thread: pumps a leased engine while it waits, and once after each page
// to send the next requests.
class Search {
 public:
  Search(std::shared_ptr<Client> client, std::string query, PagerOptions options,
         std::optional<double> timeout = {});

  // Waits for at most one slice. Nothing while the next page is on its way, and at the end. Throws
  // Error with `page` set.
  std::optional<SearchPage> wait();
  bool ended() const { return closed_; }
  RetryRecords take_retries() noexcept;

  void set_timeout(double timeout) { run_.set_timeout(timeout); }
  void close() noexcept;  // cancels what is in flight; `wait` gives nothing more
  const Pager& pager() const { return run_.pager(); }

 private:
  void send();
  void deliver();
  void prefetch() noexcept;
  std::optional<SearchPage> take();

  std::shared_ptr<Client> client_;
  SearchRun run_;
  std::shared_ptr<Engine> engine_;  // leased
  std::exception_ptr later_;        // raised after a page that had to be returned first
  bool caller_waits_ = false;       // for a page, since an earlier `wait`
  bool closed_ = false;
};

}  // namespace tradingdata
