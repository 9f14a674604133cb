// The rules that join pages into one list of rows without losing any: a state machine that takes
// responses and says which page to request next. It does no I/O and has no clock.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <vector>

#include "client/page_fingerprint.hpp"
#include "client/seen_rows.hpp"

namespace tradingdata {

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
  repeated_page,  // the last page repeats earlier rows and is as long as the first
  short_page,     // a page shorter than requested, and more rows on the next
  rows_behind,    // an empty page, and rows behind it
  unchecked_end,  // an empty page; the request that looks behind it failed
  refused_size,   // the service refuses the page size that it gave, so its offsets are unknown
};

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
  static constexpr int longest_stale_run = 8;            // pages without any new company
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
  // What the response to `due_` decides.
  enum class State : std::uint8_t {
    first_page,      // whether the service gives pages as long as requested
    measuring_page,  // the same by page 1, where a later first page came short
    second_page,     // whether it continues where the first page ended
    probing_page,    // whether the service heeds `page`, where the second repeats the first
    reading,         // only here are pages prefetched
    checking_size,   // whether page 2 came empty because its rows are counted in other pages
    checking_end,    // whether an empty page is the end: what another request behind it gives
  };

  struct Received {
    PageContent content;
    std::exception_ptr error;
    int status = 200;

    bool is_missing() const { return status == 404; }
    bool failed() const { return error && !is_missing(); }
    bool has_rows() const { return content.size() > 0; }
  };

  void record(const PageRequest& request, Received received);
  void evaluate(Received received);
  void read_page(Received received);
  void measure(const Received& first);
  void probe(const Received& part);
  void check(const Received& behind);
  void append(PageContent content);
  void accept(PageContent content, PageRows page);
  void expect_nothing_behind(Received nothing, PagerEnd end);
  PageRequest request_other_part() const;
  PageRequest request_behind(bool is_missing) const;
  bool retry_with_other_size(int status);
  bool first_page_was_full() const;
  bool came_short() const;
  bool has_room_for(const PageRequest& request) const;
  void wait_for(State state, const PageRequest& request);
  void doubt(PagerDoubt reason);
  void finish(PagerEnd end) { end_ = end; }
  void stop(std::exception_ptr error);
  void stop_stuck();

  PagerOptions options_;
  std::int64_t requested_size_;  // the `limit` of the first request that was not refused
  std::int64_t limit_;           // the `limit` of the pages that are read
  State state_ = State::first_page;
  PageRequest due_;
  std::map<PageRequest, std::optional<Received>> requests_;  // sent; with a response once it came
  std::optional<Received> held_;              // what the state's response decides about
  PagerEnd held_end_ = PagerEnd::empty_page;  // and how the search ends if nothing is behind
  std::int64_t next_page_;                    // to take
  std::int64_t first_rows_ = 0;               // on the first page
  std::int64_t last_rows_ = 0;                // on the latest page
  std::int64_t accepted_ = 0;                 // rows in `ready_` or taken
  int full_run_ = 0;                          // full pages in a row, up to the latest
  int stale_run_ = 0;                         // pages without a new company, up to the latest
  bool cut_ = false;                          // max_items left rows of the last page behind
  PagerDoubt doubt_ = PagerDoubt::none;
  PagerEnd end_ = PagerEnd::open;
  std::exception_ptr error_;
  std::deque<PageRows> ready_;
  SeenRows seen_;
  PagerStats stats_;
};

}  // namespace tradingdata
