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

// Callers with an engine of their own submit `calls`, deliver their outcomes and take pages. Others
// `wait`: that pumps a leased engine, once more after each page to send the next requests.
class Search {
 public:
  // `timeout` in seconds, a page. Throws Error (configuration).
  Search(std::shared_ptr<Client> client, std::string query, PagerOptions options,
         std::optional<double> timeout = {});

  std::vector<Call> calls();             // to submit now
  std::vector<CallId> surplus();         // to cancel now: the search ended without them
  void deliver(const Outcome& outcome);  // ignores that of another search's call
  std::optional<SearchPage> take();      // throws the error of a page in that page's turn
  bool done() const { return pager_.done(); }

  // Waits for at most one slice. Nothing while the next page is on its way, and at the end. Throws
  // Error with `page` set.
  std::optional<SearchPage> wait();
  bool ended() const { return closed_; }
  RetryRecords take_retries() noexcept;
  void close() noexcept;  // cancels what is in flight; `wait` gives nothing more

  // Seconds for each page that is requested from now on.
  void set_timeout(double timeout) { timeout_ = timeout; }
  const Pager& pager() const { return pager_; }

 private:
  struct Sent {
    PageRequest request;
    TimePoint half_time;
    bool ahead;  // of a page that has not arrived yet
  };

  Call call_for(const PageRequest& request);
  bool had_no_chance(const Sent& sent, const Error& error) const;
  void failed(const Sent& sent, const std::exception_ptr& error);
  void send();
  void receive();
  void prefetch() noexcept;

  std::shared_ptr<Client> client_;
  std::string query_;
  std::optional<double> timeout_;
  Pager pager_;
  std::map<CallId, Sent> in_flight_;
  std::set<PageRequest> again_;             // to be sent again once due
  std::map<PageRequest, Outcome> arrived_;  // until taken

  // Of a caller that waits.
  std::shared_ptr<Engine> engine_;            // leased
  std::exception_ptr later_;                  // raised after a page that had to be returned first
  TimePoint waits_since_ = TimePoint::min();  // the latest start of a wait for a page
  bool waiting_ = false;                      // for a page, since an earlier `wait`
  bool closed_ = false;
};

}  // namespace tradingdata
