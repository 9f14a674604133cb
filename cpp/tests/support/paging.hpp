// Services that page in one way or another, and a walk of the pager over them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "client/pager.hpp"

namespace paging {

using namespace tradingdata;

struct Row {
  std::optional<std::int64_t> code;
  std::string content;
  std::string name = {};
};

using Rows = std::vector<Row>;

inline PageContent page_of(const Rows& rows) {
  PageContent content;
  for (const Row& row : rows) content.add(row.code, row.content, row.name);
  return content;
}

inline Rows numbered(std::int64_t first, std::int64_t count) {
  Rows rows;
  for (std::int64_t i = first; i < first + count; ++i)
    rows.push_back({i, "row " + std::to_string(i)});
  return rows;
}

// A service that holds `total` rows and gives at most `clamp` of them a page.
using Service = std::function<Rows(std::int64_t page, std::int64_t limit)>;

inline Service honest(std::int64_t total, std::int64_t clamp = 1000) {
  return [=](std::int64_t page, std::int64_t limit) {
    const std::int64_t size = std::min(limit, clamp);
    const std::int64_t first = (page - 1) * size;
    return numbered(first, std::clamp<std::int64_t>(total - first, 0, size));
  };
}

struct Walk {
  Pager pager;
  std::vector<std::string> rows;
  std::vector<std::int64_t> asked;

  explicit Walk(PagerOptions options) : pager(options) {}

  // Answers in the order that `shuffle` gives, or in the order asked.
  void run(const Service& service, std::mt19937* shuffle = nullptr) {
    std::vector<PageAsk> waiting;
    std::map<std::int64_t, Rows> seen;
    while (true) {
      while (const auto page = pager.take()) {
        for (const std::int64_t row : page->rows) {
          rows.push_back(seen.at(page->page)[static_cast<std::size_t>(row)].content);
        }
      }
      if (pager.done()) return;
      while (const auto ask = pager.ask()) {
        waiting.push_back(*ask);
        asked.push_back(ask->page);
        REQUIRE(asked.size() < 2000);
      }
      if (waiting.empty()) continue;
      const std::size_t chosen = shuffle ? (*shuffle)() % waiting.size() : 0;
      const PageAsk ask = waiting[chosen];
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(chosen));
      seen[ask.page] = service(ask.page, ask.limit);
      pager.receive(ask.page, page_of(seen[ask.page]));
    }
  }
};

inline std::vector<std::string> contents(const Rows& rows) {
  std::vector<std::string> result;
  for (const Row& row : rows) result.push_back(row.content);
  return result;
}

inline ErrorKind kind_thrown_by(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind;
  }
  return ErrorKind::closed;  // stands for "nothing was thrown"
}

}  // namespace paging
