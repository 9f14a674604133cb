// The rules that join pages into one list of rows without losing any: a state machine that takes
// responses and says which page to request next. It does no I/O and has no clock.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "table/table.hpp"

namespace tradingdata {

// A row of a page as the pager compares it: by complete content, which is bytes, because rows of
// different tables cannot be compared otherwise.
struct PageRow {
  bool has_code;
  std::string identity;  // the content without the numbers that change from request to request
  std::string content;   // two rows are identical where these bytes are
};
using PageContent = std::vector<PageRow>;

// Of a table of stocks: every value as decoded, and the unknown fields as sent, in the order of
// their names.
PageContent page_content(const Table& stocks);

struct PagerOptions {
  std::int64_t page_size = 100;  // the wire's `limit`
  std::int64_t start_page = 1;
  std::optional<std::int64_t> max_items;
  std::int64_t prefetch = 1;  // pages requested and not yet taken, at most; 0: none ahead
  bool may_shrink = true;     // whether a refused page size may be replaced by the service's own
};

// Why there are no more pages.
enum class PagerEnd : std::uint8_t { open, empty_page, repeated_page, max_items, error };

// Why there may be rows that were not read.
enum class PagerDoubt : std::uint8_t {
  none,
  repeated_page,  // the last page repeats earlier rows, and is as long as the first or of its size
  short_page,     // a page shorter than requested, and more rows on the next
  refused_size,   // the service refuses the page size that it gave, so its offsets are unknown
  changed_rows,   // a page without new companies, at other prices: the list changed meanwhile
};

// In words, for statistics.
const char* name_of(PagerEnd end);
const char* name_of(PagerDoubt doubt);

struct PageRequest {
  std::int64_t page;
  std::int64_t limit;
  auto operator<=>(const PageRequest&) const = default;
};

struct PageRows {
  PageRequest source;
  std::vector<std::int64_t> rows;  // the rows to yield: positions in that page, in order
  std::int64_t duplicates = 0;     // rows dropped
};

struct PagerStats {
  std::int64_t pages = 0;  // taken
  std::int64_t items = 0;  // rows taken
  std::int64_t duplicates = 0;
  std::int64_t requests = 0;
};

class Pager {
 public:
  static constexpr std::int64_t service_page_size = 10;  // the service's own default
  static constexpr std::int64_t most_prefetch = 100;
  static constexpr std::int64_t last_page = 1LL << 53;  // to start with

  // Throws Error (configuration) for a number below 1 (max_items, prefetch: below 0), or absurd.
  explicit Pager(PagerOptions options);

  // The next request to send, if one is due now. Call until there is none.
  std::optional<PageRequest> next_request();

  // The outcome of a request, in any order. `status` is 0 where there was no response.
  void receive(const PageRequest& request, PageContent content);
  void fail(const PageRequest& request, int status, std::exception_ptr error);
  void sent_again() { ++stats_.requests; }

  // The next page in order, once it has arrived. Throws what `fail` was given for it, or Error
  // (pagination), when its turn has come.
  std::optional<PageRows> take();

  bool prefetches() const { return options_.prefetch > 0; }
  bool ended() const { return end_ != PagerEnd::open; }  // cancel what is still in flight
  bool done() const { return ended() && ready_.empty() && !error_; }
  PagerEnd end() const { return end_; }
  PagerDoubt doubt() const { return doubt_; }
  const PageRequest& due() const { return due_; }  // the request that everything else waits for
  // Where to resume: the next page to take, counted in pages of `page_size` rows.
  std::int64_t page() const { return next_page_; }
  std::int64_t page_size() const { return limit_; }
  const PagerStats& stats() const { return stats_; }

 private:
  struct Received {
    PageContent content;
    std::exception_ptr error;
    int status = 200;
  };

  void record(const PageRequest& request, Received received);
  void evaluate(Received received);
  void read(PageContent content);
  void accept(PageContent content, PageRows page);
  bool retry_with_other_size(int status);
  bool has_room_for(const PageRequest& request) const;
  // What the response to `due_` is: page 1, the page after the first one, or a further one.
  bool is_page_1() const { return contents_.empty() && options_.start_page == 1; }
  bool is_second() const { return !contents_.empty() && due_.page == options_.start_page + 1; }
  void doubt(PagerDoubt reason);
  void finish(PagerEnd end) { end_ = end; }
  void stop(std::exception_ptr error);
  void stop_stuck();

  PagerOptions options_;
  std::int64_t requested_size_;  // the `limit` of the first request that was not refused
  std::int64_t limit_;           // the `limit` of the pages that are read
  PageRequest due_;
  std::map<PageRequest, std::optional<Received>> requests_;  // sent; with a response once it came
  std::int64_t next_page_;                                   // to take
  std::int64_t first_rows_ = 0;                              // on the first page
  std::int64_t last_rows_ = 0;                               // on the latest page
  std::int64_t accepted_ = 0;                                // rows in `ready_` or taken
  int full_run_ = 0;           // full pages in a row, up to the latest
  bool last_was_full_ = true;  // the latest page, as far as is known
  bool asked_again_ = false;   // for the page that is due, which came empty
  bool cut_ = false;           // max_items left rows of the last page behind
  int stale_run_ = 0;          // pages in a row without a new company, up to the latest
  PagerDoubt doubt_ = PagerDoubt::none;
  PagerEnd end_ = PagerEnd::open;
  std::exception_ptr error_;
  std::deque<PageRows> ready_;
  // Of the rows accepted so far. Ordered sets: no choice of values by a service makes them slow.
  std::set<std::string> contents_;
  std::set<std::string> identities_;
  PagerStats stats_;
};

}  // namespace tradingdata
