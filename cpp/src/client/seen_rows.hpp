// The rows of a search as its pager compares them: by complete content, which is bytes, because
// rows of different tables cannot be compared otherwise.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "table/table.hpp"

namespace tradingdata {

class PageContent {
 public:
  // `identity` is the content without the numbers that change from request to request.
  void add(bool has_code, std::string_view identity, std::string_view content);

  std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
  bool has_code(std::int64_t row) const { return at(row).has_code; }
  // Two rows are identical where these bytes are; they live as long as this object stays put.
  std::string_view content(std::int64_t row) const {
    return std::string_view(bytes_).substr(at(row).begin + at(row).identity_size, at(row).size);
  }
  std::string_view identity(std::int64_t row) const {
    return std::string_view(bytes_).substr(at(row).begin, at(row).identity_size);
  }

 private:
  struct Row {
    bool has_code;
    std::size_t begin;
    std::size_t identity_size;
    std::size_t size;  // of the content, which follows the identity
  };

  const Row& at(std::int64_t row) const { return rows_[static_cast<std::size_t>(row)]; }

  std::vector<Row> rows_;
  std::string bytes_;
};

// Of a table of stocks: every value as decoded, and the unknown fields as sent, in the order of
// their names.
PageContent page_content(const Table& stocks);

// The rows that a search has accepted so far.
class SeenRows {
 public:
  bool empty() const { return pages_.empty(); }
  bool contains(const PageContent& page, std::int64_t row) const {
    return contents_.contains(page.content(row));
  }
  // Whether each row of a page was there before, at whatever price.
  bool contains_all(const PageContent& page) const;

  void add(PageContent page);

 private:
  std::deque<PageContent> pages_;  // the sets point into these: elements never move
  // Ordered sets: no choice of values by a service makes them slow.
  std::set<std::string_view> contents_;
  std::set<std::string_view> identities_;
};

}  // namespace tradingdata
