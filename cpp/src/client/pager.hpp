// The rules by which pages become one list of rows without losing any: a state machine that is told
// what arrived and tells what to ask for and what to hand on. It does no I/O and knows no time.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

#include "client/page_fingerprint.hpp"

namespace tradingdata {

struct PagerOptions {
  std::int64_t page_size = 100;  // the wire's `limit`
  std::int64_t start_page = 1;
  std::optional<std::int64_t> max_items;
  std::int64_t prefetch = 1;  // pages asked for and not yet handed on, at most; 0: none ahead
  bool may_shrink = true;     // whether a refused page size may be replaced by the service's own
};

// Why there are no more pages.
enum class PagerEnd : std::uint8_t { open, empty_page, repeated_page, max_items, error };

const char* name_of(PagerEnd end);

struct PageAsk {
  std::int64_t page;
  std::int64_t limit;
};

struct PageRows {
  std::int64_t page = 0;
  std::vector<std::int64_t> rows;  // what to hand on: positions in that page, in order
  std::int64_t duplicates = 0;     // what was dropped
};

struct PagerStats {
  std::int64_t pages = 0;  // handed on
  std::int64_t items = 0;  // rows handed on
  std::int64_t duplicates = 0;
  std::int64_t requests = 0;
};

class Pager {
 public:
  static constexpr std::int64_t service_page_size = 10;  // the service's own default
  static constexpr int longest_stale_run = 8;            // pages without any new company
  static constexpr std::int64_t most_prefetch = 100;
  static constexpr std::int64_t last_page = 1LL << 53;  // to start with

  // Throws Error (configuration) for a number below 1 (max_items, prefetch: below 0), or absurd.
  explicit Pager(PagerOptions options);

  // The next page to ask for, if one is due now. Ask until there is none.
  std::optional<PageAsk> ask();

  // What came of an ask, in any order.
  void receive(std::int64_t page, PageContent content);
  void fail(std::int64_t page, std::exception_ptr error);
  // Page 1 was refused with `status`: true where it will be asked for with the service's own page
  // size instead; then `fail` need not be called.
  bool refused(std::int64_t page, int status);
  // It has to be asked for again, with the same size; counts as a request.
  void asked_again() { ++stats_.requests; }

  // The next page in order, once it is here. Throws what `fail` was given for it, or Error
  // (pagination), when its turn has come.
  std::optional<PageRows> take();

  bool asks_ahead() const { return options_.prefetch > 0; }  // not only when a page is waited for
  bool ended() const { return end_ != PagerEnd::open; }      // nothing more to ask: cancel the rest
  bool done() const { return ended() && ready_.empty() && !error_; }
  PagerEnd end() const { return end_; }
  std::int64_t due() const { return next_; }     // the page that all later ones wait for
  std::int64_t page() const { return handed_; }  // the next to hand on: where to go on from
  std::int64_t page_size() const { return limit_; }
  // It ended with a repeated page that was as long as page 1: that is all there is, unless the
  // service gives fewer rows than asked and ignores `page`, or heeds it up to some number only.
  bool doubtful() const { return doubtful_; }
  const PagerStats& stats() const { return stats_; }

 private:
  using Arrived = std::variant<PageContent, std::exception_ptr>;

  std::int64_t window() const;
  void move_on();
  void evaluate(PageContent content);
  bool first_page_was_full() const;
  bool is_new_company(const PageContent& content, std::int64_t row) const;
  bool repeats_companies_of_first_page(const PageContent& content) const;
  void stop(std::int64_t page, std::exception_ptr error);
  void stop_ignored_page(std::int64_t page);

  PagerOptions options_;
  std::int64_t limit_;
  std::int64_t next_ask_;
  std::int64_t next_;    // the next to evaluate
  std::int64_t handed_;  // the next to hand on
  std::int64_t first_rows_ = -1;
  std::int64_t accepted_ = 0;  // rows in `ready_` or handed on
  int full_run_ = 0;           // pages in a row, up to the last, that were as long as a page is
  bool doubtful_ = false;
  bool cut_ = false;  // max_items left rows of the last page behind
  int stale_run_ = 0;
  PagerEnd end_ = PagerEnd::open;
  std::exception_ptr error_;
  std::map<std::int64_t, Arrived> arrived_;
  std::deque<PageRows> ready_;
  std::deque<PageContent> kept_;  // what `contents_` points into: elements never move
  std::unordered_set<std::string_view> contents_;
  std::unordered_set<std::int64_t> codes_;
  std::unordered_set<std::string_view> names_;  // of rows without a code
  PagerStats stats_;
};

}  // namespace tradingdata
