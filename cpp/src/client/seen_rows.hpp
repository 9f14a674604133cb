// The rows that a search has accepted so far, and how a page compares with them.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string_view>

#include "client/page_fingerprint.hpp"

namespace tradingdata {

class SeenRows {
 public:
  bool empty() const { return pages_.empty(); }
  const PageContent& first_page() const { return pages_.front(); }

  bool contains(const PageContent& page, std::int64_t row) const {
    return contents_.contains(page.content(row));
  }
  bool contains_all(const PageContent& page) const;
  bool contains_company(const PageContent& page, std::int64_t row) const;

  // Whether `page` holds the rows of the first page again, or its companies in the same order at
  // other prices. One company repeated does not show that: it may be listed row by row.
  bool repeats_first_page(const PageContent& page) const;

  void add(PageContent page);

 private:
  std::deque<PageContent> pages_;  // the sets point into these: elements never move
  // Ordered sets: no choice of values by a service makes them slow.
  std::set<std::string_view> contents_;
  std::set<std::int64_t> codes_;
  std::set<std::string_view> names_;  // of rows without a code
};

}  // namespace tradingdata
