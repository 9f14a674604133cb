#include "tradingdata/pager.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>

#include "tradingdata/error.hpp"

using namespace tradingdata;

namespace {

struct Row {
  std::optional<std::int64_t> code;
  std::string content;
};

using Rows = std::vector<Row>;

PageContent page_of(const Rows& rows) {
  PageContent content;
  for (const Row& row : rows) content.add(row.code, row.content);
  return content;
}

Rows numbered(std::int64_t first, std::int64_t count) {
  Rows rows;
  for (std::int64_t i = first; i < first + count; ++i) rows.push_back({i, "row " + std::to_string(i)});
  return rows;
}

// A service that holds `total` rows and gives at most `clamp` of them a page.
using Service = std::function<Rows(std::int64_t page, std::int64_t limit)>;

Service honest(std::int64_t total, std::int64_t clamp = 1000) {
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

std::vector<std::string> contents(const Rows& rows) {
  std::vector<std::string> result;
  for (const Row& row : rows) result.push_back(row.content);
  return result;
}

ErrorKind kind_thrown_by(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind;
  }
  return ErrorKind::closed;  // stands for "nothing was thrown"
}

}  // namespace

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
          CHECK(static_cast<std::int64_t>(walk.asked.size()) <= pages + 1 + prefetch);
        }
      }
    }
  }
}

TEST_CASE("F75 a short page is no end: one more page is asked, and only one") {
  Walk walk({100, 1, {}, 8});
  walk.run(honest(30));
  CHECK(walk.asked == std::vector<std::int64_t>{1, 2});
  CHECK(walk.pager.stats().pages == 1);
  CHECK(walk.pager.stats().items == 30);
}

TEST_CASE("an empty first page is an empty result after one request") {
  Walk walk({});
  walk.run(honest(0));
  CHECK(walk.asked.size() == 1);
  CHECK(walk.rows.empty());
}

TEST_CASE("F74 page 2 that repeats a full page 1 is an error, behind the rows of page 1") {
  Walk walk({20, 1, {}, 4});
  const Service stuck = [](std::int64_t, std::int64_t limit) { return numbered(0, limit); };
  CHECK(kind_thrown_by([&] { walk.run(stuck); }) == ErrorKind::pagination);
  CHECK(walk.rows.size() == 20);
  CHECK(walk.pager.page() == 2);
}

TEST_CASE("F74 so is one that repeats the service's own page size, which heeds no limit either") {
  Walk walk({100, 1, {}, 1});
  const Service stuck = [](std::int64_t, std::int64_t) { return numbered(0, 10); };
  CHECK(kind_thrown_by([&] { walk.run(stuck); }) == ErrorKind::pagination);
}

TEST_CASE("F74 so is one with the same companies at other prices") {
  Walk walk({20, 1, {}, 1});
  int asked = 0;
  const Service live = [&](std::int64_t, std::int64_t limit) {
    Rows rows = numbered(0, limit);
    ++asked;
    for (Row& row : rows) row.content += " at " + std::to_string(asked);
    return rows;
  };
  CHECK(kind_thrown_by([&] { walk.run(live); }) == ErrorKind::pagination);
  CHECK(walk.rows.size() == 20);
}

TEST_CASE("F74 page 2 that repeats a short page 1 ends, in doubt") {
  Walk walk({100, 1, {}, 1});
  walk.run([](std::int64_t, std::int64_t) { return numbered(0, 7); });
  CHECK(walk.rows.size() == 7);
  CHECK(walk.pager.end() == PagerEnd::repeated_page);
  CHECK(walk.pager.doubtful());
  CHECK(walk.pager.stats().duplicates == 7);
}

TEST_CASE("a service that gives its last page for every later one ends at the repeat") {
  Walk walk({10, 1, {}, 3});
  walk.run([](std::int64_t page, std::int64_t limit) {
    return honest(45)(std::min<std::int64_t>(page, 5), limit);
  });
  CHECK(walk.rows.size() == 45);
  CHECK(walk.pager.end() == PagerEnd::repeated_page);
  CHECK_FALSE(walk.pager.doubtful());
}

TEST_CASE("pages that bring no new company for ever end in an error, not in a loop") {
  Walk walk({5, 1, {}, 1});
  int asked = 0;
  const Service odd = [&](std::int64_t page, std::int64_t) {
    ++asked;
    if (page == 1) return numbered(0, 5);
    return Rows{{2, "seen at " + std::to_string(asked)}};
  };
  CHECK(kind_thrown_by([&] { walk.run(odd); }) == ErrorKind::pagination);
  CHECK(asked == 1 + Pager::longest_stale_run);
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
  const Rows pages[] = {{{1, "a"}, {1, "b"}, {{}, "no code"}},
                        {{1, "a"}, {1, "c"}, {{}, "no code"}, {2, "d"}},
                        {}};
  Walk walk({3, 1, {}, 1});
  walk.run([&](std::int64_t page, std::int64_t) { return pages[page - 1]; });
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
    return page <= 3 ? Rows{{1, "exchange " + std::to_string(page)}} : Rows{};
  });
  CHECK(walk.rows.size() == 3);
}

TEST_CASE("max_items caps rows and requests") {
  for (const std::int64_t most : {0, 1, 10, 11, 25}) {
    CAPTURE(most);
    Walk walk({10, 1, most, 8});
    walk.run(honest(1000));
    CHECK(walk.rows == contents(numbered(0, most)));
    CHECK(walk.pager.end() == PagerEnd::max_items);
    CHECK(static_cast<std::int64_t>(walk.asked.size()) == (most + 9) / 10);
  }
}

TEST_CASE("prefetch bounds what is asked and not yet handed on") {
  Pager pager({10, 1, {}, 3});
  CHECK(pager.ask()->page == 1);
  CHECK_FALSE(pager.ask());
  pager.receive(1, page_of(numbered(0, 10)));
  CHECK(pager.ask()->page == 2);
  CHECK(pager.ask()->page == 3);
  CHECK_FALSE(pager.ask());
  pager.take();
  CHECK(pager.ask()->page == 4);
  CHECK_FALSE(pager.ask());
  pager.receive(4, page_of(numbered(30, 10)));
  pager.receive(3, page_of(numbered(20, 10)));
  CHECK_FALSE(pager.take());
  pager.receive(2, page_of(numbered(10, 10)));
  for (const std::int64_t page : {2, 3, 4}) CHECK(pager.take()->page == page);
}

TEST_CASE("F77 an error waits for its turn, keeps what came before, and tells the page") {
  Pager pager({10, 1, {}, 3});
  pager.ask();
  pager.receive(1, page_of(numbered(0, 10)));
  pager.ask();
  pager.ask();
  pager.fail(3, std::make_exception_ptr(Error(ErrorKind::server, "down")));
  CHECK(pager.take()->page == 1);
  CHECK_FALSE(pager.take());
  CHECK_FALSE(pager.ended());
  pager.receive(2, page_of(numbered(10, 10)));
  CHECK(pager.take()->page == 2);
  CHECK(pager.page() == 3);
  CHECK(pager.ended());
  CHECK_FALSE(pager.done());
  CHECK_THROWS_AS(pager.take(), Error);
  CHECK(pager.done());
  CHECK(pager.end() == PagerEnd::error);
  CHECK_FALSE(pager.ask());
}

TEST_CASE("start_page goes on from there") {
  Walk walk({10, 3, {}, 2});
  walk.run(honest(45));
  CHECK(walk.rows == contents(numbered(20, 25)));
  CHECK(walk.asked.front() == 3);
}

TEST_CASE("page 1 refused with 400 or 422 is asked for once more with 10 rows") {
  for (const int status : {400, 422}) {
    Pager pager({100, 1, {}, 1});
    pager.ask();
    CHECK(pager.refused(1, status));
    const auto ask = pager.ask();
    CHECK(ask->page == 1);
    CHECK(ask->limit == 10);
    CHECK_FALSE(pager.refused(1, status));
    CHECK(pager.stats().requests == 2);
  }
  Pager other({100, 1, {}, 1});
  other.ask();
  CHECK_FALSE(other.refused(1, 404));
  Pager later({100, 7, {}, 1});  // page 7 of another size would begin at another row
  later.ask();
  CHECK_FALSE(later.refused(7, 400));
}

TEST_CASE("F78 numbers below 1 are refused") {
  CHECK_THROWS_AS(Pager({0, 1, {}, 1}), Error);
  CHECK_THROWS_AS(Pager({10, 0, {}, 1}), Error);
  CHECK_THROWS_AS(Pager({10, -1, {}, 1}), Error);
  CHECK_THROWS_AS(Pager({10, 1, -1, 1}), Error);
  CHECK_THROWS_AS(Pager({10, 1, {}, 0}), Error);
}

TEST_CASE("F76 a service whose rows move at random never makes a loop or a row twice") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    std::int64_t offset = 0;
    const std::int64_t total = static_cast<std::int64_t>(random() % 60);
    Walk walk({static_cast<std::int64_t>(1 + random() % 12), 1, {}, static_cast<std::int64_t>(1 + random() % 4)});
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
