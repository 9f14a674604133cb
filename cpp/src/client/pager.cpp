#include "client/pager.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace tradingdata {

namespace {

const PagerOptions& checked(const PagerOptions& options) {
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

Pager::Pager(PagerOptions options)
    : options_(checked(options)),
      limit_(options.page_size),
      next_ask_(options.start_page),
      next_(options.start_page),
      handed_(options.start_page) {
  if (options_.max_items == 0) end_ = PagerEnd::max_items;
}

// Behind a short page there is probably nothing, so that is found out with one request. Each full
// one in a row earns another, so that at the end no more requests are in vain than there were
// pages.
std::int64_t Pager::window() const {
  return std::min<std::int64_t>(full_run_ + 1, std::max<std::int64_t>(options_.prefetch, 1));
}

std::optional<PageAsk> Pager::ask() {
  if (ended()) return std::nullopt;
  if (next_ask_ - handed_ >= window()) return std::nullopt;
  if (options_.max_items && first_rows_ > 0) {
    const std::int64_t under_way = (next_ask_ - next_) * first_rows_;
    if (accepted_ + under_way >= *options_.max_items) return std::nullopt;
  }
  ++stats_.requests;
  return PageAsk{next_ask_++, limit_};
}

void Pager::receive(std::int64_t page, PageContent content) {
  if (page < next_) return;
  arrived_.insert_or_assign(page, std::move(content));
  move_on();
}

void Pager::fail(std::int64_t page, std::exception_ptr error) {
  if (page < next_) return;
  arrived_.insert_or_assign(page, std::move(error));
  move_on();
}

bool Pager::refused(std::int64_t page, int status) {
  // Only page 1 starts at the same row under any page size.
  const bool another_size_may_do = options_.may_shrink && page == 1 && next_ == 1 &&
                                   limit_ != service_page_size && (status == 400 || status == 422);
  if (!another_size_may_do) return false;
  limit_ = service_page_size;
  next_ask_ = page;
  return true;
}

void Pager::move_on() {
  while (!ended()) {
    const auto found = arrived_.find(next_);
    if (found == arrived_.end()) return;
    Arrived arrived = std::move(found->second);
    arrived_.erase(found);
    if (auto* error = std::get_if<std::exception_ptr>(&arrived)) {
      stop(next_, *error);
    } else {
      evaluate(std::get<PageContent>(std::move(arrived)));
      ++next_;
    }
  }
}

bool Pager::first_page_was_full() const {
  // A service that heeds neither `page` nor `limit` gives its own page size.
  return first_rows_ >= limit_ || first_rows_ == service_page_size;
}

bool Pager::is_new_company(const PageContent& content, std::int64_t row) const {
  const std::optional<std::int64_t> code = content.code(row);
  return code ? !codes_.contains(*code) : !names_.contains(content.name(row));
}

bool Pager::repeats_companies_of_first_page(const PageContent& content) const {
  const PageContent& first = kept_.front();
  if (content.size() != first.size()) return false;
  bool several = false;
  for (std::int64_t row = 0; row < content.size(); ++row) {
    if (!content.same_company(row, first, row)) return false;
    several = several || !content.same_company(row, content, 0);
  }
  return several;
}

void Pager::evaluate(PageContent content) {
  const std::int64_t size = content.size();
  const bool is_first = first_rows_ < 0;
  const bool is_second = next_ == options_.start_page + 1;
  if (size == 0) {
    end_ = PagerEnd::empty_page;
    return;
  }
  PageRows page{next_, {}, 0};
  bool stood_before = true;
  bool new_company = false;
  for (std::int64_t row = 0; row < size; ++row) {
    const bool identical = contents_.contains(content.content(row));
    stood_before = stood_before && identical;
    new_company = new_company || is_new_company(content, row);
    if (identical && content.code(row)) {
      ++page.duplicates;
    } else {
      page.rows.push_back(row);
    }
  }
  if (stood_before) {
    if (is_second && first_page_was_full()) return stop_ignored_page(next_);
    doubtful_ = size >= first_rows_;
    stats_.duplicates += size;
    end_ = PagerEnd::repeated_page;
    return;
  }
  stale_run_ = new_company ? 0 : stale_run_ + 1;
  const bool ignored =
      is_second && first_page_was_full() && repeats_companies_of_first_page(content);
  if (ignored || stale_run_ >= longest_stale_run) return stop_ignored_page(next_);

  if (is_first) first_rows_ = size;
  full_run_ = size >= (is_first ? limit_ : first_rows_) ? full_run_ + 1 : 0;
  const PageContent& kept = kept_.emplace_back(std::move(content));
  for (std::int64_t row = 0; row < size; ++row) {
    contents_.insert(kept.content(row));
    if (const auto code = kept.code(row)) {
      codes_.insert(*code);
    } else {
      names_.insert(kept.name(row));
    }
  }
  if (options_.max_items) {
    const auto room = static_cast<std::size_t>(*options_.max_items - accepted_);
    if (page.rows.size() >= room) {
      cut_ = page.rows.size() > room;
      page.rows.resize(room);
      end_ = PagerEnd::max_items;
    }
  }
  accepted_ += static_cast<std::int64_t>(page.rows.size());
  ready_.push_back(std::move(page));
}

void Pager::stop(std::int64_t page, std::exception_ptr error) {
  end_ = PagerEnd::error;
  error_ = std::move(error);
  next_ = page;
}

void Pager::stop_ignored_page(std::int64_t page) {
  Error error(ErrorKind::pagination,
              "page " + std::to_string(page) + " of the search brings the rows of page " +
                  std::to_string(page == options_.start_page + 1 ? options_.start_page : page - 1) +
                  " again: the service seems to ignore `page`, so the rest of the hits cannot be "
                  "reached; narrow the query, or try a larger page_size");
  error.page = page;
  stop(page, std::make_exception_ptr(error));
}

std::optional<PageRows> Pager::take() {
  if (ready_.empty()) {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return std::nullopt;
  }
  PageRows page = std::move(ready_.front());
  ready_.pop_front();
  handed_ = cut_ && ready_.empty() ? page.page : page.page + 1;
  ++stats_.pages;
  stats_.items += static_cast<std::int64_t>(page.rows.size());
  stats_.duplicates += page.duplicates;
  return page;
}

}  // namespace tradingdata
