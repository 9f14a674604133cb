// Simulated services that page well or badly, and a walk of the pager over them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "client/pager.hpp"

namespace paging {

using namespace tradingdata;

struct Row {
  std::optional<std::int64_t> code;
  std::string content;
  std::string name = {};  // what does not change with its price; else the content
};

using Rows = std::vector<Row>;

inline PageContent page_of(const Rows& rows) {
  PageContent content;
  for (const Row& row : rows) {
    content.push_back(
        {row.code.has_value(), row.name.empty() ? row.content : row.name, row.content});
  }
  return content;
}

inline Rows numbered(std::int64_t first, std::int64_t count) {
  Rows rows;
  for (std::int64_t i = first; i < first + count; ++i)
    rows.push_back({i, "row " + std::to_string(i)});
  return rows;
}

// What a service gives for one request; nothing means a 404.
using Service = std::function<std::optional<Rows>(std::int64_t page, std::int64_t limit)>;

// How a service pages its `total` rows, and what it does wrong.
struct Paging {
  std::int64_t total = 0;
  std::int64_t cap = 1000;      // rows on a page, at most
  bool offset_by_given = true;  // the offset counts pages as given; otherwise as requested
  std::int64_t extra = 0;       // rows on a page beyond its limit
  bool ignores_page = false;    // gives page 1 for every page
  bool repeats_last = false;    // gives the last page for every later one
  bool missing_behind = false;  // gives 404 behind the last page
  std::int64_t empty_page = 0;  // the page that comes empty once although it has rows
  std::int64_t short_page = 0;  // the page that comes with only half of its rows
  std::int64_t listings = 1;    // rows in a row that differ in numbers only
};

inline Service service_of(const Paging& paging) {
  const auto came_empty = std::make_shared<bool>(false);
  return [=](std::int64_t page, std::int64_t limit) -> std::optional<Rows> {
    if (paging.ignores_page) page = 1;
    const std::int64_t given = std::min(limit, paging.cap) + paging.extra;
    const std::int64_t step = paging.offset_by_given ? given : limit;
    const std::int64_t last = std::max<std::int64_t>((paging.total + step - 1) / step, 1);
    if (paging.repeats_last) page = std::min(page, last);
    if (paging.missing_behind && page > last) return std::nullopt;
    if (page == paging.empty_page && !std::exchange(*came_empty, true)) return Rows{};
    const std::int64_t first = (page - 1) * step;
    const std::int64_t rows = std::clamp<std::int64_t>(paging.total - first, 0, given);
    Rows result = numbered(first, page == paging.short_page ? (rows + 1) / 2 : rows);
    for (Row& row : result) row.name = "company " + std::to_string(*row.code / paging.listings);
    return result;
  };
}

inline Service honest(std::int64_t total, std::int64_t cap = 1000) {
  return service_of({.total = total, .cap = cap});
}

struct Walk {
  Pager pager;
  std::vector<std::string> rows;
  std::vector<PageRequest> requests;

  explicit Walk(PagerOptions options) : pager(options) {}

  // Responds in the order that `shuffle` gives, or in the order of the requests.
  void run(const Service& service, std::mt19937* shuffle = nullptr) {
    std::vector<PageRequest> waiting;
    std::map<PageRequest, Rows> seen;
    while (true) {
      while (const auto page = pager.take()) {
        for (const std::int64_t row : page->rows) {
          rows.push_back(seen.at(page->source)[static_cast<std::size_t>(row)].content);
        }
      }
      if (pager.done()) return;
      while (const auto request = pager.next_request()) {
        waiting.push_back(*request);
        requests.push_back(*request);
        if (requests.size() > 2000) FAIL("the search does not end");
      }
      if (pager.ended()) continue;
      if (waiting.empty()) FAIL("the pager waits for nothing");
      const std::size_t chosen = shuffle ? (*shuffle)() % waiting.size() : 0;
      const PageRequest request = waiting[chosen];
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(chosen));
      if (const auto response = service(request.page, request.limit)) {
        seen[request] = *response;
        pager.receive(request, page_of(*response));
      } else {
        pager.fail(request, 404, std::make_exception_ptr(Error(ErrorKind::not_found, "404")));
      }
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
  return ErrorKind::closed;  // means "nothing was thrown"
}

}  // namespace paging
