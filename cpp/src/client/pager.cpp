// The states of a search. The service documents neither its largest page nor how a list ends, so
// every end is confirmed by a second request.
#include "client/pager.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace tradingdata {

namespace {

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
  switch (end) {
    case PagerEnd::open: return "open";
    case PagerEnd::empty_page: return "empty page";
    case PagerEnd::repeated_page: return "repeated page";
    case PagerEnd::max_items: return "max_items";
    case PagerEnd::error: return "error";
  }
  return "unknown";
}

const char* name_of(PagerDoubt doubt) {
  switch (doubt) {
    case PagerDoubt::none: return "none";
    case PagerDoubt::repeated_page: return "repeated page";
    case PagerDoubt::short_page: return "short page";
    case PagerDoubt::rows_behind: return "rows behind";
    case PagerDoubt::unchecked_end: return "unchecked end";
    case PagerDoubt::refused_size: return "refused size";
  }
  return "unknown";
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
  if (state_ == State::reading) {
    while (requests_.contains(request)) ++request.page;
  }
  if (requests_.contains(request) || !has_room_for(request)) return std::nullopt;
  requests_.emplace(request, std::nullopt);
  ++stats_.requests;
  return request;
}

// After a short page there is probably nothing, so only one page is requested there. Each full one
// in a row earns another, so that at the end no more requests are wasted than there were pages.
bool Pager::has_room_for(const PageRequest& request) const {
  if (state_ != State::first_page && state_ != State::second_page && state_ != State::reading) {
    return true;
  }
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

void Pager::wait_for(State state, const PageRequest& request) {
  state_ = state;
  due_ = request;
}

// Responses ------------------------------------------------------------------------------------

void Pager::evaluate(Received received) {
  switch (state_) {
    case State::measuring_page: return measure(received);
    case State::probing_page: return probe(received);
    case State::checking_size:
    case State::checking_end: return check(received);
    case State::first_page:
    case State::second_page:
    case State::reading: return read_page(std::move(received));
  }
}

void Pager::read_page(Received received) {
  if (retry_with_other_size(received.status)) return;
  if (received.failed()) return stop(std::move(received.error));
  if (state_ == State::first_page && options_.start_page > 1 && received.content.size() < limit_) {
    if (!held_ && limit_ == requested_size_) {
      held_ = std::move(received);
      return wait_for(State::measuring_page, {1, limit_});
    }
    if (held_ && held_->has_rows() && !received.has_rows()) {  // the page sizes contradict
      doubt(PagerDoubt::short_page);
      received = *std::exchange(held_, std::nullopt);
      wait_for(State::first_page, {options_.start_page, limit_ = requested_size_});
    }
  }
  if (received.has_rows()) {
    append(std::move(received.content));
  } else {
    expect_nothing_behind(std::move(received), PagerEnd::empty_page);
  }
}

// Only page 1 starts at the same row whatever the size. A size that the service gave but does not
// accept leaves unknown at which row page 2 starts.
bool Pager::retry_with_other_size(int status) {
  if (status != 400 && status != 422) return false;
  if (state_ == State::first_page && due_.page == 1 && options_.may_shrink &&
      limit_ != service_page_size) {
    requested_size_ = limit_ = service_page_size;
  } else if (state_ == State::second_page && limit_ < requested_size_) {
    limit_ = requested_size_;
    doubt(PagerDoubt::refused_size);
  } else {
    return false;
  }
  due_.limit = limit_;
  return true;
}

// A search that resumes and receives a short page does not know whether that is the last one, or
// all pages of this service are shorter than requested. Then it was resumed by the `page` of a
// search that counted in those shorter pages.
void Pager::measure(const Received& first) {
  const std::int64_t size = first.content.size();
  if (size > 0 && size < limit_) {
    limit_ = size;
    return wait_for(State::first_page, {options_.start_page, limit_});
  }
  Received page = *std::exchange(held_, std::nullopt);
  wait_for(State::first_page, {options_.start_page, limit_});
  if (page.is_missing() && first.error) return stop(std::move(page.error));
  if (first.error) doubt(PagerDoubt::unchecked_end);
  if (page.has_rows()) return append(std::move(page.content));
  expect_nothing_behind(std::move(page), PagerEnd::empty_page);
}

bool Pager::first_page_was_full() const {
  // A service that heeds neither `page` nor `limit` gives its own page size.
  return first_rows_ >= requested_size_ || first_rows_ == service_page_size;
}

bool Pager::came_short() const {
  return last_rows_ > 0 && last_rows_ < limit_;
}

void Pager::append(PageContent content) {
  const std::int64_t size = content.size();
  const bool all_seen = seen_.contains_all(content);
  if (state_ == State::second_page && !held_ && first_page_was_full() &&
      seen_.repeats_first_page(content)) {
    held_ = Received{std::move(content), nullptr};
    return wait_for(State::probing_page, request_other_part());
  }
  held_.reset();
  if (all_seen) {
    stats_.duplicates += size;
    const bool ends_short = due_.page == 2 && limit_ < requested_size_ && size < limit_;
    if (ends_short) return expect_nothing_behind({}, PagerEnd::repeated_page);
    if (size >= first_rows_) doubt(PagerDoubt::repeated_page);
    return finish(PagerEnd::repeated_page);
  }
  PageRows page{due_, {}, 0};
  bool new_company = false;
  for (std::int64_t row = 0; row < size; ++row) {
    new_company = new_company || !seen_.contains_company(content, row);
    if (content.code(row) && seen_.contains(content, row)) {
      ++page.duplicates;
    } else {
      page.rows.push_back(row);
    }
  }
  stale_run_ = new_company ? 0 : stale_run_ + 1;
  if (stale_run_ >= longest_stale_run) return stop_stuck();
  if (came_short() || last_rows_ < first_rows_) doubt(PagerDoubt::short_page);
  accept(std::move(content), std::move(page));
}

void Pager::accept(PageContent content, PageRows page) {
  last_rows_ = content.size();
  const bool is_first = seen_.empty();
  if (is_first) {
    first_rows_ = last_rows_;
    // A page of this size starts at the same row whether the service counts its offset in pages as
    // long as requested or as long as given.
    if (options_.start_page == 1) limit_ = std::min(limit_, first_rows_);
  }
  full_run_ = last_rows_ >= limit_ ? full_run_ + 1 : 0;
  seen_.add(std::move(content));
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
  wait_for(is_first ? State::second_page : State::reading, {due_.page + 1, limit_});
}

// The second page repeats the first. A service that heeds `page` gives another part of the list, or
// of its last page, where a page is shorter; one that ignores it gives the first rows once more.
PageRequest Pager::request_other_part() const {
  std::int64_t size = first_rows_ > 1 ? first_rows_ / 2 : 2;
  // Half of page 3 starts where page 2 starts.
  if (options_.start_page == 2 && size * 2 == first_rows_) ++size;
  return {due_.page, size};
}

void Pager::probe(const Received& part) {
  const PageContent& rows = part.content;
  const bool stuck =
      part.error || (rows.size() >= due_.limit && rows.same_company(0, seen_.first_page(), 0));
  due_.limit = limit_;
  if (stuck) return stop_stuck();
  wait_for(State::second_page, due_);
  append(std::move(held_->content));
}

// The end ----------------------------------------------------------------------------------------

// An empty page may be an error of the service, and so may a 404: a second sign has to agree.
// After a short first page, an empty page is that sign itself.
void Pager::expect_nothing_behind(Received nothing, PagerEnd end) {
  if (options_.start_page == 1 && seen_.empty()) {
    return nothing.error ? stop(std::move(nothing.error)) : finish(end);
  }
  if (doubt_ != PagerDoubt::none) return finish(end);
  const bool is_missing = nothing.is_missing();
  if (due_.page > 2 || limit_ == requested_size_) {
    wait_for(State::checking_end, request_behind(is_missing));
  } else if (is_missing || end == PagerEnd::repeated_page) {
    // Half the size on page 3 starts after the rows that page 1 would have had in full.
    wait_for(State::checking_size, {3, std::max<std::int64_t>(requested_size_ / 2, 1)});
  } else {
    limit_ = requested_size_;
    return finish(end);
  }
  held_ = std::move(nothing);
  held_end_ = end;
}

// Page k had no rows: where else the list could continue. A smaller page k + 1 that includes the
// row after the last one shows both whether page k is empty by mistake and whether the page before
// it was cut. Where no size fits, or a 404 has to be confirmed by a plain request, the one row
// after a short page, or the page after a full one.
PageRequest Pager::request_behind(bool is_missing) const {
  const std::int64_t page = due_.page;
  const PageRequest next{page + 1, limit_};
  if (seen_.empty() || page >= last_page / limit_) return next;  // the product below would overflow
  const std::int64_t rows = came_short() ? (page - 2) * limit_ + last_rows_ : (page - 1) * limit_;
  const std::int64_t size = rows / page;
  const std::int64_t begin = (options_.start_page - 1) * limit_;
  if (!is_missing && rows % page < size && size * page >= begin) return {page + 1, size};
  return came_short() ? PageRequest{rows + 1, 1} : next;
}

void Pager::check(const Received& behind) {
  const Received nothing = *std::exchange(held_, std::nullopt);
  const bool was_size = state_ == State::checking_size;
  const bool unread = !seen_.contains_all(behind.content);
  if (nothing.is_missing() && !behind.is_missing()) return stop(nothing.error);
  if (behind.failed()) doubt(PagerDoubt::unchecked_end);
  if (unread) doubt(PagerDoubt::rows_behind);
  if (was_size) limit_ = requested_size_;
  if (was_size && unread) return wait_for(State::second_page, {2, limit_});
  finish(held_end_);
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
              hint::query);
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
