#include "client/pager.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
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
          CHECK(static_cast<std::int64_t>(walk.asked.size()) <= pages + 1 + in_vain);
        }
      }
    }
  }
}

TEST_CASE("an empty first page is an empty result after one request") {
  Walk walk({});
  walk.run(honest(0));
  CHECK(walk.asked.size() == 1);
  CHECK(walk.rows.empty());
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

TEST_CASE("prefetch bounds what is asked and not yet handed on; full pages earn it") {
  Pager pager({10, 1, {}, 3});
  const auto arrive = [&](std::int64_t page) {
    pager.receive(page, page_of(numbered((page - 1) * 10, 10)));
  };
  CHECK(pager.ask()->page == 1);
  CHECK_FALSE(pager.ask());
  arrive(1);
  CHECK(pager.ask()->page == 2);  // two in flight or in hand, after one full page
  CHECK_FALSE(pager.ask());
  arrive(2);
  CHECK(pager.ask()->page == 3);
  arrive(3);
  CHECK_FALSE(pager.ask());  // four would be earned, three are allowed
  CHECK(pager.take()->page == 1);
  CHECK(pager.ask()->page == 4);
  CHECK_FALSE(pager.ask());
  CHECK(pager.take()->page == 2);
  CHECK(pager.ask()->page == 5);
  CHECK(pager.take()->page == 3);
  CHECK(pager.ask()->page == 6);
  CHECK_FALSE(pager.ask());
  arrive(6);
  arrive(5);
  CHECK_FALSE(pager.take());
  arrive(4);
  for (const std::int64_t page : {4, 5, 6}) CHECK(pager.take()->page == page);
}

TEST_CASE("a listing of two pages costs four requests, however many may be fetched ahead") {
  Walk walk({10, 1, {}, 100});
  walk.run(honest(15));
  CHECK(walk.asked.size() <= 4);
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

TEST_CASE("a page size that the user chose is not replaced by another one") {
  PagerOptions options;
  options.may_shrink = false;
  Pager pager(options);
  pager.ask();
  CHECK_FALSE(pager.refused(1, 422));
}

TEST_CASE("prefetch 0 asks for one page at a time") {
  Pager pager({10, 1, {}, 0});
  CHECK_FALSE(pager.asks_ahead());
  pager.ask();
  pager.receive(1, page_of(numbered(0, 10)));
  CHECK_FALSE(pager.ask());
  pager.take();
  CHECK(pager.ask()->page == 2);
  CHECK_FALSE(pager.ask());
}

TEST_CASE("a page that max_items cuts is the page to go on from; a whole one is behind us") {
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
