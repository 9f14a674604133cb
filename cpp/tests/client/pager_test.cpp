// The rules that join pages, one by one; which page is requested next; and services that fail or
// contradict themselves.
#include "client/pager.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/paging.hpp"

using namespace paging;

TEST_CASE("every row once, whatever the total, page size, clamp, prefetch and order of arrival") {
  std::mt19937 random(7);
  for (const std::int64_t total : {0, 1, 9, 10, 11, 50, 137}) {
    for (const std::int64_t size : {1, 7, 10, 100}) {
      for (const std::int64_t clamp : {3, 10, 1000}) {
        for (const std::int64_t prefetch : {1, 2, 8}) {
          CAPTURE(total);
          CAPTURE(size);
          CAPTURE(clamp);
          CAPTURE(prefetch);
          Walk walk({size, 1, {}, prefetch});
          walk.run(honest(total, clamp), &random);
          CHECK(walk.rows == contents(numbered(0, total)));
          CHECK(walk.pager.end() == PagerEnd::empty_page);
          const std::int64_t pages = (total + std::min(size, clamp) - 1) / std::min(size, clamp);
          const std::int64_t in_vain = std::min(pages, prefetch);
          CHECK(static_cast<std::int64_t>(walk.requests.size()) <= pages + 1 + in_vain);
        }
      }
    }
  }
}

TEST_CASE("max_items caps rows and requests") {
  for (const std::int64_t most : {0, 1, 10, 11, 25}) {
    CAPTURE(most);
    Walk walk({10, 1, most, 8});
    walk.run(honest(1000));
    CHECK(walk.rows == contents(numbered(0, most)));
    CHECK(walk.pager.end() == PagerEnd::max_items);
    CHECK(static_cast<std::int64_t>(walk.requests.size()) == (most + 9) / 10);
  }
}

TEST_CASE("prefetch bounds the pages requested and not yet taken; full pages earn it") {
  Pager pager({10, 1, {}, 3});
  const auto arrive = [&](std::int64_t page) {
    pager.receive({page, 10}, page_of(numbered((page - 1) * 10, 10)));
  };
  CHECK(pager.next_request()->page == 1);
  CHECK_FALSE(pager.next_request());
  arrive(1);
  CHECK(pager.next_request()->page == 2);
  CHECK_FALSE(pager.next_request());
  arrive(2);
  CHECK(pager.next_request()->page == 3);
  arrive(3);
  CHECK_FALSE(pager.next_request());  // three full pages earn another, but three are not taken
  CHECK(pager.take()->source.page == 1);
  CHECK(pager.next_request()->page == 4);
  CHECK_FALSE(pager.next_request());
  CHECK(pager.take()->source.page == 2);
  CHECK(pager.next_request()->page == 5);
  CHECK(pager.take()->source.page == 3);
  CHECK(pager.next_request()->page == 6);
  CHECK_FALSE(pager.next_request());
  arrive(6);
  arrive(5);
  CHECK_FALSE(pager.take());
  arrive(4);
  for (const std::int64_t page : {4, 5, 6}) CHECK(pager.take()->source.page == page);
}

TEST_CASE("start_page resumes from that page") {
  Walk walk({10, 3, {}, 2});
  walk.run(honest(45));
  CHECK(walk.rows == contents(numbered(20, 25)));
  CHECK(walk.requests.front().page == 3);
}

std::exception_ptr refusal() {
  return std::make_exception_ptr(Error(ErrorKind::bad_request, "limit is too large"));
}

TEST_CASE("page 1 refused with 400 or 422 is requested once more with 10 rows") {
  for (const int status : {400, 422}) {
    Pager pager({100, 1, {}, 1});
    pager.next_request();
    pager.fail({1, 100}, status, refusal());
    CHECK(pager.next_request() == PageRequest{1, 10});
    CHECK(pager.page_size() == 10);
    CHECK(pager.stats().requests == 2);
    pager.fail({1, 10}, status, refusal());
    CHECK_THROWS_AS(pager.take(), Error);
  }
}

TEST_CASE("no other refusal leads to another page size") {
  PagerOptions chosen;
  chosen.may_shrink = false;  // the user's own page size
  PagerOptions later;
  later.start_page = 7;  // of another size it would begin at another row
  const std::pair<PagerOptions, int> cases[] = {{{}, 404}, {chosen, 422}, {later, 400}};
  for (const auto& [options, code] : cases) {
    const int status = code;  // a structured binding cannot be captured in C++20 by every compiler
    CAPTURE(status);
    Pager pager(options);
    pager.next_request();
    pager.fail({options.start_page, 100}, status, refusal());
    CHECK_THROWS_AS(pager.take(), Error);
  }
}

TEST_CASE("a page cut by max_items is the page to resume from; a complete one is not") {
  for (const std::int64_t most : {10, 20, 25}) {
    CAPTURE(most);
    Walk walk({10, 1, most, 3});
    walk.run(honest(1000));
    CHECK(walk.pager.page() == most / 10 + 1);
  }
}

TEST_CASE("F78 numbers below 1 are refused") {
  CHECK_THROWS_AS(Pager({0, 1, {}, 1}), Error);
  CHECK_THROWS_AS(Pager({10, 0, {}, 1}), Error);
  CHECK_THROWS_AS(Pager({10, -1, {}, 1}), Error);
  CHECK_THROWS_AS(Pager({10, 1, -1, 1}), Error);
  CHECK_THROWS_AS(Pager({10, 1, {}, -1}), Error);
  CHECK_THROWS_AS(Pager({10, 1, {}, 101}), Error);
  CHECK_THROWS_AS(Pager({10, Pager::last_page + 1, {}, 1}), Error);
}

TEST_CASE("F78 the smallest and the largest options are accepted") {
  CHECK_NOTHROW(Pager({1, 1, {}, 0}));
  CHECK_NOTHROW(Pager({1, Pager::last_page, {}, 1}));
  CHECK_NOTHROW(Pager({1, 1, 0, Pager::most_prefetch}));
}

// Exactly which page is requested next, where another one would miss rows or be in vain.

namespace {

// A response, and the request that follows it.
struct Step {
  int status;  // 200: the page has `rows` new rows
  std::int64_t rows;
  std::optional<PageRequest> next = {};
};

struct Course {
  const char* what;
  std::vector<Step> steps;
  PagerEnd end = PagerEnd::empty_page;
  PagerDoubt doubt = PagerDoubt::none;
  std::int64_t start_page = 1;
};

using Next = PageRequest;
const Course courses[] = {
    {"an empty page behind a page shorter than requested ends the search at once",
     {{200, 10, Next{2, 10}}, {200, 1, Next{3, 10}}, {200, 0}}},
    {"an empty page behind a full one is requested once more, and only once",
     {{200, 10, Next{2, 10}},
      {200, 0, Next{2, 10}},
      {200, 10, Next{3, 10}},
      {200, 0, Next{3, 10}},
      {200, 0}}},
    {"a 404 is the end only behind rows and only if it comes twice",
     {{200, 4, Next{2, 4}}, {404, 0, Next{2, 4}}, {404, 0}}},
    {"a 404 for page 1", {{404, 0}}, PagerEnd::error},
    {"a 404 for the page to resume from", {{404, 0}}, PagerEnd::error, PagerDoubt::none, 5},
    {"an empty page to resume from is requested once more",
     {{200, 0, Next{5, 10}}, {200, 0}},
     PagerEnd::empty_page,
     PagerDoubt::none,
     5},
    {"page 2 is requested in another size only where page 1 came shorter than requested",
     {{200, 10, Next{2, 10}}, {422, 0}},
     PagerEnd::error},
    {"a refused size that the service gave is replaced once, by the one requested first",
     {{200, 3, Next{2, 3}}, {422, 0, Next{2, 10}}, {422, 0}},
     PagerEnd::error,
     PagerDoubt::refused_size},
    {"a refusal of page 3 is an error, whatever the size of page 1",
     {{200, 3, Next{2, 3}}, {200, 3, Next{3, 3}}, {400, 0}},
     PagerEnd::error},
};

}  // namespace

TEST_CASE("each response leads to the request that it must, and to the right end") {
  for (const Course& course : courses) {
    CAPTURE(course.what);
    Pager pager({10, course.start_page, {}, 0});
    CHECK(pager.next_request() == PageRequest{course.start_page, 10});
    std::int64_t rows = 0;
    for (const Step& step : course.steps) {
      if (step.status == 200) {
        pager.receive(pager.due(),
                      page_of(numbered(std::exchange(rows, rows + step.rows), step.rows)));
        while (pager.take()) {
        }
      } else {
        pager.fail(pager.due(), step.status, refusal());
      }
      CHECK(pager.next_request() == step.next);
    }
    CHECK(pager.end() == course.end);
    CHECK(pager.doubt() == course.doubt);
    CHECK(pager.stats().requests == static_cast<std::int64_t>(course.steps.size()));
  }
}

// The pager against services that fail or contradict themselves.

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

TEST_CASE("F74 F140 a short page 1 at ever new prices keeps its rows and ends in doubt") {
  for (const std::int64_t size : {1, 3}) {
    Walk walk({5, 1, {}, 1});
    int requests = 0;
    walk.run([&](std::int64_t, std::int64_t) {
      Rows rows = numbered(0, size);
      ++requests;
      for (Row& row : rows) row = {{}, row.content + std::to_string(requests), row.content};
      return rows;
    });
    CHECK(requests == 3);
    CHECK(walk.rows.size() == static_cast<std::size_t>(3 * size));
    CHECK(walk.pager.doubt() == PagerDoubt::changed_rows);
  }
}

TEST_CASE("F140 a short page of known companies with other values is kept, and so is the next") {
  const Row changed{2, "row 2 at another price", "row 2"};
  const Rows pages[] = {numbered(0, 4), numbered(4, 4), {changed}, numbered(8, 1), {}};
  Walk walk({4, 1, {}, 1});
  walk.run(
      [&](std::int64_t page, std::int64_t) { return pages[std::min<std::int64_t>(page, 5) - 1]; });
  std::vector<std::string> expected = contents(numbered(0, 9));
  expected.insert(expected.begin() + 8, changed.content);
  CHECK(walk.rows == expected);
  CHECK(walk.pager.end() == PagerEnd::empty_page);
  CHECK(walk.pager.doubt() == PagerDoubt::changed_rows);
}

TEST_CASE("F74 page 2 that repeats a short page 1 ends, in doubt") {
  Walk walk({100, 1, {}, 1});
  walk.run([](std::int64_t, std::int64_t) { return numbered(0, 7); });
  CHECK(walk.rows.size() == 7);
  CHECK(walk.pager.end() == PagerEnd::repeated_page);
  CHECK(walk.pager.doubt() == PagerDoubt::repeated_page);
  CHECK(walk.pager.stats().duplicates == 7);
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
