// The pager against every combination of simulated services: each row once, or doubt, or an error,
// but never a loss in silence.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "support/paging.hpp"

using namespace paging;

namespace {

// The rows from the start page on; a search that resumes trusts the page size.
std::vector<std::string> expected_rows(const Paging& paging, const PagerOptions& options) {
  const std::int64_t given = std::min(options.page_size, paging.cap) + paging.extra;
  const std::int64_t step = paging.offset_by_given ? given : options.page_size;
  const std::int64_t first = std::min((options.start_page - 1) * step, paging.total);
  return contents(numbered(first, paging.total - first));
}

bool is_subsequence(const std::vector<std::string>& part, const std::vector<std::string>& all) {
  auto at = all.begin();
  for (const std::string& row : part) {
    at = std::find(at, all.end(), row);
    if (at == all.end()) return false;
    ++at;
  }
  return true;
}

// How a search ended, and with which rows.
struct Reading {
  std::vector<std::string> rows;
  ErrorKind error = ErrorKind::closed;  // nothing was thrown
  PagerDoubt doubt = PagerDoubt::none;

  bool is_silent() const { return error == ErrorKind::closed && doubt == PagerDoubt::none; }
};

Reading reading_of(const Paging& paging, const PagerOptions& options, std::mt19937& random) {
  Walk walk(options);
  const ErrorKind error = kind_thrown_by([&] { walk.run(service_of(paging), &random); });
  return {walk.rows, error, walk.pager.doubt()};
}

using Check = std::function<void(const Paging&, const PagerOptions&, const Reading&)>;

// Runs `check` on services with every total, cap and offset rule, for page sizes and start pages.
void for_each_size(const Paging& fault, const Check& check) {
  constexpr std::int64_t prefetches[] = {0, 1, 4};
  std::mt19937 random(5);
  for (const std::int64_t total : {0, 1, 2, 3, 7, 10, 20, 29, 30, 31, 80, 100, 250}) {
    for (const std::int64_t size : {1, 2, 3, 10, 30, 100}) {
      for (const std::int64_t cap : {1, 3, 10, 30, 99, 1000}) {
        for (const bool offset_by_given : {false, true}) {
          for (const std::int64_t start_page : {1, 2, 5}) {
            if (total > 100 && std::min(size, cap) < 10) continue;  // long, and nothing new
            Paging paging = fault;
            paging.total = total;
            paging.cap = cap;
            paging.offset_by_given = offset_by_given;
            const PagerOptions options{size, start_page, {}, prefetches[random() % 3]};
            CAPTURE(total);
            CAPTURE(size);
            CAPTURE(cap);
            CAPTURE(offset_by_given);
            CAPTURE(start_page);
            CAPTURE(options.prefetch);
            check(paging, options, reading_of(paging, options, random));
          }
        }
      }
    }
  }
}

void every_row(const Paging& paging, const PagerOptions& options, const Reading& reading) {
  const std::vector<std::string> expected = expected_rows(paging, options);
  if (options.start_page == 1) {
    CHECK(reading.rows == expected);
    CHECK(reading.is_silent());
  } else if (paging.missing_behind && expected.empty()) {
    CHECK(reading.error == ErrorKind::not_found);
  } else if (paging.cap >= options.page_size) {
    CHECK(reading.rows == expected);
    CHECK(reading.is_silent());
  } else {  // a size that the service never gives
    CHECK(is_subsequence(reading.rows, expected));
  }
}

void never_silent(const Paging& paging, const PagerOptions& options, const Reading& reading) {
  const std::vector<std::string> expected = expected_rows(paging, options);
  CHECK(is_subsequence(reading.rows, expected));
  if (reading.is_silent()) CHECK(reading.rows == expected);
}

}  // namespace

TEST_CASE("F75 F123 every row once, without doubt, whichever page size the offset counts") {
  for_each_size({}, every_row);
}

TEST_CASE("F123 and where the service gives 404 behind its last page") {
  for_each_size({.missing_behind = true}, every_row);
}

TEST_CASE("and where pages are longer than requested") {
  for (const std::int64_t extra : {1, 5, 20}) {
    CAPTURE(extra);
    for_each_size({.extra = extra}, every_row);
  }
}

TEST_CASE("F140 rows that differ in numbers only are each given, or doubtful, or an error") {
  for (const std::int64_t listings : {2, 3, 12}) {
    CAPTURE(listings);
    for_each_size({.listings = listings},
                  [](const Paging& paging, const PagerOptions& options, const Reading& reading) {
                    if (options.start_page == 1) never_silent(paging, options, reading);
                  });
  }
}

TEST_CASE("F74 a service that ignores `page` is an error or doubtful unless page 1 was all") {
  for_each_size({.ignores_page = true},
                [](const Paging& paging, const PagerOptions& options, const Reading& reading) {
                  if (options.start_page == 1) never_silent(paging, options, reading);
                });
}

TEST_CASE("F74 a service that repeats its last page gives every row, at most with doubt") {
  for_each_size({.repeats_last = true},
                [](const Paging& paging, const PagerOptions& options, const Reading& reading) {
                  if (options.start_page > 1) return;
                  CHECK(reading.rows == expected_rows(paging, options));
                  // One full page that is repeated is what a service that ignores `page` gives.
                  const bool one_page = paging.total == options.page_size;
                  if (!one_page) CHECK(reading.error == ErrorKind::closed);
                });
}

TEST_CASE("a page that comes empty once never ends the list in silence behind full pages") {
  for (const std::int64_t empty_page : {2, 3, 4}) {
    CAPTURE(empty_page);
    for_each_size({.empty_page = empty_page},
                  [&](const Paging& paging, const PagerOptions& options, const Reading& reading) {
                    if (options.start_page > 1 || paging.cap < options.page_size) return;
                    every_row(paging, options, reading);
                  });
  }
}

TEST_CASE("one page that is cut, with rows behind it, is never a silent loss") {
  for (const std::int64_t short_page : {1, 2, 3}) {
    CAPTURE(short_page);
    for_each_size({.short_page = short_page},
                  [&](const Paging& paging, const PagerOptions& options, const Reading& reading) {
                    const std::int64_t size = std::min(options.page_size, paging.cap);
                    const bool rows_behind = paging.total > short_page * size;
                    if (options.start_page == 1 && size > 3 && rows_behind) {
                      never_silent(paging, options, reading);
                    }
                  });
  }
}
