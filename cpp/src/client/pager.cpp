// How the pages of a search become one list. The service documents neither its largest page nor how
// a list ends, so only rows decide.
#include "client/pager.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "table/records.hpp"
#include "table/row_values.hpp"

namespace tradingdata {

PageContent page_content(const Table& stocks) {
  PageContent page;
  for (std::int64_t row = 0; row < stocks.rows(); ++row) {
    const bool has_code = stocks.valid(stock_schema["co_code"], row);
    auto& [_, identity, content] = page.emplace_back(PageRow{has_code, {}, {}});
    append_row(content, stocks, row);
    for (int field = 0; field < stocks.schema().width(); ++field) {
      if (stocks.schema().field(field).kind == Kind::number) continue;  // as market capitalization
      detail::append_value(identity, stocks, field, row);
    }
    for (const auto& [name, json] : detail::sorted_extras(stocks, row)) {
      if (json.starts_with('"')) identity.append(name).append(json);
    }
  }
  return page;
}

namespace {

constexpr int most_stale = 2;

PagerOptions checked(PagerOptions options) {
  const auto check = [](bool good, const char* rule) {
    if (!good) throw Error(ErrorKind::configuration, rule);
  };
  check(options.page_size >= 1, "page_size must be 1 or more");
  check(options.start_page >= 1, "start_page must be 1 or more");
  check(options.start_page <= Pager::last_page, "start_page must be 2**53 or less");
  check(options.prefetch >= 0 && options.prefetch <= Pager::most_prefetch,
        "prefetch must be from 0 to 100");
  check(!options.max_items || *options.max_items >= 0, "max_items must be 0 or more");
  return options;
}

}  // namespace

const char* name_of(PagerEnd end) {
  constexpr const char* names[] = {"open", "empty page", "repeated page", "max_items", "error"};
  return names[static_cast<std::size_t>(end)];
}

const char* name_of(PagerDoubt doubt) {
  constexpr const char* names[] = {"none", "repeated page", "short page", "refused size",
                                   "changed rows"};
  return names[static_cast<std::size_t>(doubt)];
}

Pager::Pager(PagerOptions options)
    : options_(checked(options)),
      requested_size_(options.page_size),
      limit_(options.page_size),
      due_{options.start_page, options.page_size},
      next_page_(options.start_page) {
  if (options_.max_items == 0) finish(PagerEnd::max_items);
}

// Requests -------------------------------------------------------------------------------------

std::optional<PageRequest> Pager::next_request() {
  if (ended()) return std::nullopt;
  PageRequest request = due_;
  while (requests_.contains(request)) ++request.page;
  if (!has_room_for(request)) return std::nullopt;
  requests_.emplace(request, std::nullopt);
  ++stats_.requests;
  return request;
}

// After a short page there is probably nothing, so only one page is requested there. Each full one
// in a row earns another, so that at the end no more requests are wasted than there were pages.
bool Pager::has_room_for(const PageRequest& request) const {
  if (request.page - next_page_ >= std::max<std::int64_t>(options_.prefetch, 1)) return false;
  const std::int64_t ahead = request.page - due_.page;
  if (ahead >= std::max(full_run_, 1)) return false;
  return !options_.max_items || accepted_ + ahead * first_rows_ < *options_.max_items;
}

void Pager::receive(const PageRequest& request, PageContent content) {
  record(request, {std::move(content), nullptr});
}

void Pager::fail(const PageRequest& request, int status, std::exception_ptr error) {
  record(request, {{}, std::move(error), status});
}

void Pager::record(const PageRequest& request, Received received) {
  const auto sent = requests_.find(request);
  if (sent == requests_.end()) return;
  sent->second = std::move(received);
  while (!ended()) {
    const auto found = requests_.find(due_);
    if (found == requests_.end() || !found->second) return;
    Received next = *std::move(found->second);
    requests_.erase(found);
    evaluate(std::move(next));
  }
}

// Responses ------------------------------------------------------------------------------------

void Pager::evaluate(Received received) {
  if (retry_with_other_size(received.status)) return;
  const bool missing =
      received.status == 404 && !contents_.empty();  // a service may say so at the end
  if (received.error && !missing) return stop(std::move(received.error));
  if (!received.content.empty()) return read(std::move(received.content));
  // After a page that was shorter than requested this is the second sign of the end. Otherwise it
  // is the only one, and may be an error of the service, so the page is requested once more.
  const bool only_sign = last_was_full_ || missing;
  if (!is_page_1() && only_sign && !asked_again_) {
    asked_again_ = true;
    return;
  }
  if (is_second()) limit_ = requested_size_;  // page 1 has all rows, and shows no shorter pages
  finish(PagerEnd::empty_page);
}

// Only page 1 starts at the same row whatever the size. A size that the service gave but does not
// accept leaves unknown at which row page 2 starts.
bool Pager::retry_with_other_size(int status) {
  if (status != 400 && status != 422) return false;
  if (is_page_1() && options_.may_shrink && limit_ != service_page_size) {
    requested_size_ = limit_ = service_page_size;
  } else if (is_second() && limit_ < requested_size_) {
    limit_ = requested_size_;
    doubt(PagerDoubt::refused_size);
  } else {
    return false;
  }
  due_.limit = limit_;
  return true;
}

void Pager::read(PageContent content) {
  const std::int64_t size = std::ssize(content);
  const auto is_known = [&](const PageRow& row) { return identities_.contains(row.identity); };
  const auto is_identical = [&](const PageRow& row) { return contents_.contains(row.content); };
  const bool stale = std::ranges::all_of(content, is_known);
  if (stale && is_second() && first_rows_ >= requested_size_ && size >= first_rows_) {
    return stop_stuck();
  }
  if (std::ranges::all_of(content, is_identical)) {
    stats_.duplicates += size;
    // A shorter one is what a service repeats that gives its last page for every later one.
    if (size >= first_rows_ || limit_ < requested_size_) doubt(PagerDoubt::repeated_page);
    return finish(PagerEnd::repeated_page);
  }
  stale_run_ = stale ? stale_run_ + 1 : 0;
  if (stale) doubt(PagerDoubt::changed_rows);
  if (!contents_.empty() && last_rows_ < std::max(first_rows_, limit_))
    doubt(PagerDoubt::short_page);
  PageRows page{due_, {}, 0};
  for (std::int64_t row = 0; row < size; ++row) {
    const PageRow& found = content[static_cast<std::size_t>(row)];
    if (found.has_code && contents_.contains(found.content)) {
      ++page.duplicates;
    } else {
      page.rows.push_back(row);
    }
  }
  accept(std::move(content), std::move(page));
  // A service whose prices change with each response would repeat its rows for ever.
  if (stale_run_ == most_stale && !ended()) finish(PagerEnd::repeated_page);
}

void Pager::accept(PageContent content, PageRows page) {
  last_rows_ = std::ssize(content);
  last_was_full_ = last_rows_ >= limit_;
  asked_again_ = false;
  if (contents_.empty()) {
    first_rows_ = last_rows_;
    // A page of this size starts at the same row whether the service counts its offset in pages as
    // long as requested or as long as given.
    if (options_.start_page == 1) limit_ = std::min(limit_, first_rows_);
  }
  full_run_ = last_rows_ >= limit_ ? full_run_ + 1 : 0;
  for (PageRow& row : content) {
    contents_.insert(std::move(row.content));
    identities_.insert(std::move(row.identity));
  }
  if (options_.max_items) {
    const auto room = static_cast<std::size_t>(*options_.max_items - accepted_);
    if (page.rows.size() >= room) {
      cut_ = page.rows.size() > room;
      page.rows.resize(room);
      finish(PagerEnd::max_items);
    }
  }
  accepted_ += static_cast<std::int64_t>(page.rows.size());
  ready_.push_back(std::move(page));
  due_ = {due_.page + 1, limit_};
}

void Pager::doubt(PagerDoubt reason) {
  if (doubt_ == PagerDoubt::none) doubt_ = reason;
}

void Pager::stop(std::exception_ptr error) {
  finish(PagerEnd::error);
  error_ = std::move(error);
}

void Pager::stop_stuck() {
  const std::int64_t page = due_.page;
  Error error(ErrorKind::pagination,
              "page " + std::to_string(page) + " of the search repeats the rows of page " +
                  std::to_string(page - 1) +
                  ", so the service seems to ignore `page` and later rows cannot be read",
              advice::query);
  error.page = page;
  stop(std::make_exception_ptr(error));
}

std::optional<PageRows> Pager::take() {
  if (ready_.empty()) {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return std::nullopt;
  }
  PageRows page = std::move(ready_.front());
  ready_.pop_front();
  next_page_ = page.source.page + (cut_ && ready_.empty() ? 0 : 1);
  ++stats_.pages;
  stats_.items += static_cast<std::int64_t>(page.rows.size());
  stats_.duplicates += page.duplicates;
  return page;
}

}  // namespace tradingdata
