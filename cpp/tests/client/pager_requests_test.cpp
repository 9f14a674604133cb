// Exactly which page is requested next, where another one would miss rows or be in vain.
#include <doctest/doctest.h>

#include <optional>

#include "support/paging.hpp"

using namespace paging;

namespace {

// Responds to the request that is due with these rows, and returns the request that follows.
std::optional<PageRequest> after(Pager& pager, const Rows& rows) {
  pager.receive(pager.due(), page_of(rows));
  while (pager.take()) {
  }
  return pager.next_request();
}

std::optional<PageRequest> after_status(Pager& pager, int status) {
  pager.fail(pager.due(), status, std::make_exception_ptr(Error(ErrorKind::bad_request, "no")));
  return pager.next_request();
}

}  // namespace

TEST_CASE("F78 the smallest and the largest options are accepted") {
  CHECK_NOTHROW(Pager({1, 1, {}, 0}));
  CHECK_NOTHROW(Pager({1, Pager::last_page, {}, 1}));
  CHECK_NOTHROW(Pager({1, 1, 0, Pager::most_prefetch}));
}

TEST_CASE("an empty page behind a page shorter than requested ends the search at once") {
  Pager pager({10, 1, {}, 0});
  pager.next_request();
  CHECK(after(pager, numbered(0, 10)) == PageRequest{2, 10});
  CHECK(after(pager, numbered(10, 1)) == PageRequest{3, 10});
  CHECK_FALSE(after(pager, {}));
  CHECK(pager.end() == PagerEnd::empty_page);
  CHECK(pager.doubt() == PagerDoubt::none);
}

TEST_CASE("an empty page behind a full one is requested once more, and only once") {
  Pager pager({10, 1, {}, 0});
  pager.next_request();
  CHECK(after(pager, numbered(0, 10)) == PageRequest{2, 10});
  CHECK(after(pager, {}) == PageRequest{2, 10});
  CHECK(after(pager, numbered(10, 10)) == PageRequest{3, 10});  // it was an error of the service
  CHECK(after(pager, {}) == PageRequest{3, 10});
  CHECK_FALSE(after(pager, {}));
  CHECK(pager.end() == PagerEnd::empty_page);
  CHECK(pager.stats().requests == 5);
}

TEST_CASE("a 404 is the end only behind rows and only if it comes twice") {
  Pager pager({10, 1, {}, 0});
  pager.next_request();
  CHECK(after(pager, numbered(0, 4)) == PageRequest{2, 4});
  CHECK(after_status(pager, 404) == PageRequest{2, 4});
  CHECK_FALSE(after_status(pager, 404));
  CHECK(pager.end() == PagerEnd::empty_page);
  for (const std::int64_t start_page : {1, 5}) {
    Pager first({10, start_page, {}, 0});
    first.next_request();
    CHECK_FALSE(after_status(first, 404));
    CHECK(first.end() == PagerEnd::error);
  }
}

TEST_CASE("an empty page to resume from is requested once more") {
  Pager pager({10, 5, {}, 0});
  CHECK(pager.next_request() == PageRequest{5, 10});
  CHECK(after(pager, {}) == PageRequest{5, 10});
  CHECK_FALSE(after(pager, {}));
  CHECK(pager.end() == PagerEnd::empty_page);
}

TEST_CASE("page 2 is requested in another size only where page 1 came shorter than requested") {
  for (const int status : {400, 422}) {
    Pager pager({10, 1, {}, 0});
    pager.next_request();
    after(pager, numbered(0, 10));
    CHECK_FALSE(after_status(pager, status));
    CHECK(pager.end() == PagerEnd::error);
    CHECK(pager.doubt() == PagerDoubt::none);
    CHECK(pager.stats().requests == 2);
  }
}

TEST_CASE("a refused size that the service gave is replaced once, by the one requested first") {
  Pager pager({10, 1, {}, 0});
  pager.next_request();
  CHECK(after(pager, numbered(0, 3)) == PageRequest{2, 3});
  CHECK(after_status(pager, 422) == PageRequest{2, 10});
  CHECK(pager.doubt() == PagerDoubt::refused_size);
  CHECK_FALSE(after_status(pager, 422));
  CHECK(pager.end() == PagerEnd::error);
}

TEST_CASE("a refusal of page 3 is an error, whatever the size of page 1") {
  Pager pager({10, 1, {}, 0});
  pager.next_request();
  after(pager, numbered(0, 3));
  CHECK(after(pager, numbered(3, 3)) == PageRequest{3, 3});
  CHECK_FALSE(after_status(pager, 400));
  CHECK(pager.end() == PagerEnd::error);
}
