// The pager against services that fail or contradict themselves.
#include "client/pager.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "support/paging.hpp"

using namespace paging;

TEST_CASE("F75 a short page is no end: one more page is requested, and only one") {
  Walk walk({100, 1, {}, 8});
  walk.run(honest(30));
  CHECK(walk.requests == std::vector<PageRequest>{{1, 100}, {2, 30}});
  CHECK(walk.pager.end() == PagerEnd::empty_page);
  CHECK(walk.pager.doubt() == PagerDoubt::none);
  CHECK(walk.pager.stats().pages == 1);
  CHECK(walk.pager.stats().items == 30);
}

TEST_CASE("F74 page 2 that repeats a full page 1 is an error, behind the rows of page 1") {
  Walk walk({20, 1, {}, 4});
  const Service stuck = [](std::int64_t, std::int64_t limit) { return numbered(0, limit); };
  CHECK(kind_thrown_by([&] { walk.run(stuck); }) == ErrorKind::pagination);
  CHECK(walk.rows.size() == 20);
  CHECK(walk.pager.page() == 2);
}

TEST_CASE("F74 so is one with the same companies at other prices") {
  Walk walk({20, 1, {}, 1});
  int requests = 0;
  const Service live = [&](std::int64_t, std::int64_t limit) {
    Rows rows = numbered(0, limit);
    ++requests;
    for (Row& row : rows) row = {row.code, row.content + std::to_string(requests), row.content};
    return rows;
  };
  CHECK(kind_thrown_by([&] { walk.run(live); }) == ErrorKind::pagination);
  CHECK(walk.rows.size() == 20);
}

TEST_CASE("F74 a short page 1 that comes again at other prices ends in doubt") {
  for (const std::int64_t size : {1, 3}) {
    Walk walk({5, 1, {}, 1});
    int requests = 0;
    walk.run([&](std::int64_t, std::int64_t) {
      Rows rows = numbered(0, size);
      ++requests;
      for (Row& row : rows) row = {{}, row.content + std::to_string(requests), row.content};
      return rows;
    });
    CHECK(requests == 2);
    CHECK(walk.rows.size() == static_cast<std::size_t>(size));
    CHECK(walk.pager.doubt() == PagerDoubt::repeated_page);
  }
}

TEST_CASE("F74 page 2 that repeats a short page 1 ends, in doubt") {
  Walk walk({100, 1, {}, 1});
  walk.run([](std::int64_t, std::int64_t) { return numbered(0, 7); });
  CHECK(walk.rows.size() == 7);
  CHECK(walk.pager.end() == PagerEnd::repeated_page);
  CHECK(walk.pager.doubt() == PagerDoubt::repeated_page);
  CHECK(walk.pager.stats().duplicates == 7);
}

TEST_CASE("a service that gives its last page for every later one ends at the repeat") {
  Walk walk({10, 1, {}, 3});
  walk.run([](std::int64_t page, std::int64_t limit) {
    return honest(45)(std::min<std::int64_t>(page, 5), limit);
  });
  CHECK(walk.rows.size() == 45);
  CHECK(walk.pager.end() == PagerEnd::repeated_page);
  CHECK(walk.pager.doubt() == PagerDoubt::none);
}

TEST_CASE("rows decide: distinct rows without a code or a name are all read") {
  Walk walk({100, 1, {}, 1});
  walk.run([](std::int64_t page, std::int64_t limit) {
    Rows rows = *honest(1000)(page, limit);
    for (Row& row : rows) row.code.reset();
    return rows;
  });
  CHECK(walk.rows == contents(numbered(0, 1000)));
  CHECK(walk.pager.doubt() == PagerDoubt::none);
}

TEST_CASE("F76 rows that shift onto the next page are dropped there and counted") {
  Walk walk({5, 1, {}, 1});
  walk.run([](std::int64_t page, std::int64_t limit) {  // two rows were put in front meanwhile
    const std::int64_t first = (page - 1) * limit - (page > 1 ? 2 : 0);
    return numbered(first, std::clamp<std::int64_t>(12 - first, 0, limit));
  });
  CHECK(walk.rows == contents(numbered(0, 12)));
  CHECK(walk.pager.stats().duplicates == 2);
}

TEST_CASE("the same code with other content, and rows without a code, are kept") {
  const Rows pages[] = {
      {{1, "a"}, {1, "b"}, {{}, "no code"}}, {{1, "a"}, {1, "c"}, {{}, "no code"}, {2, "d"}}, {}};
  Walk walk({3, 1, {}, 1});
  walk.run(
      [&](std::int64_t page, std::int64_t) { return pages[std::min<std::int64_t>(page, 3) - 1]; });
  CHECK(walk.rows == std::vector<std::string>{"a", "b", "no code", "c", "no code", "d"});
  CHECK(walk.pager.stats().duplicates == 1);
}

TEST_CASE("rows repeated within one page are all kept") {
  Walk walk({3, 1, {}, 1});
  walk.run([&](std::int64_t page, std::int64_t) {
    return page == 1 ? Rows{{1, "a"}, {1, "a"}} : Rows{};
  });
  CHECK(walk.rows.size() == 2);
}

TEST_CASE("one listing of a company a page is no stuck service") {
  Walk walk({1, 1, {}, 1});
  walk.run([&](std::int64_t page, std::int64_t) {
    return page <= 12 ? Rows{{1, "exchange " + std::to_string(page)}} : Rows{};
  });
  CHECK(walk.rows.size() == 12);
}

TEST_CASE("F77 an error waits for its turn and keeps the pages before it") {
  Pager pager({10, 1, {}, 3});
  for (const std::int64_t page : {1, 2}) {
    pager.next_request();
    pager.receive({page, 10}, page_of(numbered((page - 1) * 10, 10)));
    CHECK(pager.take()->source.page == page);
  }
  CHECK(pager.next_request()->page == 3);
  CHECK(pager.next_request()->page == 4);
  pager.fail({4, 10}, 503, std::make_exception_ptr(Error(ErrorKind::server, "down")));
  CHECK_FALSE(pager.take());
  CHECK_FALSE(pager.ended());
  pager.receive({3, 10}, page_of(numbered(20, 10)));
  CHECK(pager.take()->source.page == 3);
  CHECK(pager.page() == 4);
  CHECK(pager.ended());
  CHECK_FALSE(pager.done());
  CHECK_THROWS_AS(pager.take(), Error);
  CHECK(pager.done());
  CHECK(pager.end() == PagerEnd::error);
  CHECK_FALSE(pager.next_request());
}

TEST_CASE("F76 a full page that is repeated ends in doubt, a short one does not") {
  for (const std::int64_t total : {40, 45}) {
    CAPTURE(total);
    Walk walk({10, 1, {}, 1});
    walk.run([&](std::int64_t page, std::int64_t limit) {
      return honest(total)(std::min<std::int64_t>(page, (total + 9) / 10), limit);
    });
    CHECK(walk.rows.size() == static_cast<std::size_t>(total));
    CHECK(walk.pager.end() == PagerEnd::repeated_page);
    CHECK((walk.pager.doubt() != PagerDoubt::none) == (total == 40));
  }
}

TEST_CASE("F76 a service whose rows move at random never makes a loop or a row twice") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    std::int64_t offset = 0;
    const std::int64_t total = static_cast<std::int64_t>(random() % 60);
    Walk walk({static_cast<std::int64_t>(1 + random() % 12),
               1,
               {},
               static_cast<std::int64_t>(1 + random() % 4)});
    const ErrorKind kind = kind_thrown_by([&] {
      walk.run(
          [&](std::int64_t page, std::int64_t limit) {
            offset -= static_cast<std::int64_t>(random() % 3);  // rows are put in front
            const std::int64_t first = (page - 1) * limit + offset;
            return numbered(first, std::clamp<std::int64_t>(total - first, 0, limit));
          },
          &random);
    });
    CHECK((kind == ErrorKind::closed || kind == ErrorKind::pagination));
    const std::set<std::string> distinct(walk.rows.begin(), walk.rows.end());
    CHECK(distinct.size() == walk.rows.size());
  }
}

TEST_CASE("a service that filters the rows of a page ends in doubt") {
  for (const std::int64_t kept : {2, 3, 10}) {  // one row in `kept` of a page is given
    CAPTURE(kept);
    Walk walk({100, 1, {}, 1});
    walk.run([&](std::int64_t page, std::int64_t limit) {
      Rows rows;
      const std::int64_t first = (page - 1) * limit;
      for (std::int64_t row = first; row < std::min<std::int64_t>(first + limit, 450); ++row) {
        if (row % kept == 0) rows.push_back({row, "row " + std::to_string(row)});
      }
      return rows;
    });
    CHECK(walk.pager.doubt() == PagerDoubt::repeated_page);
  }
}
