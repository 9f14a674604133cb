// The rules that join pages, one by one.
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
          CHECK(static_cast<std::int64_t>(walk.requests.size()) <= pages + 1 + in_vain);
        }
      }
    }
  }
}

TEST_CASE("an empty first page is an empty result after one request") {
  Walk walk({});
  walk.run(honest(0));
  CHECK(walk.requests.size() == 1);
  CHECK(walk.rows.empty());
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

TEST_CASE("a listing of two pages costs four requests, however many may be fetched ahead") {
  Walk walk({10, 1, {}, 100});
  walk.run(honest(15));
  CHECK(walk.requests.size() <= 4);
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

TEST_CASE("prefetch 0 requests one page at a time") {
  Pager pager({10, 1, {}, 0});
  CHECK_FALSE(pager.prefetches());
  pager.next_request();
  pager.receive({1, 10}, page_of(numbered(0, 10)));
  CHECK_FALSE(pager.next_request());
  pager.take();
  CHECK(pager.next_request()->page == 2);
  CHECK_FALSE(pager.next_request());
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
