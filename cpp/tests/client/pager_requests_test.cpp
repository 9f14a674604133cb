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

TEST_CASE("behind a short page, the page that looks for more includes the row after its last one") {
  Pager pager({10, 1, {}, 0});
  pager.next_request();
  CHECK(after(pager, numbered(0, 10)) == PageRequest{2, 10});
  CHECK(after(pager, numbered(10, 1)) == PageRequest{3, 10});
  CHECK(after(pager, {}) == PageRequest{4, 3});  // rows 9 to 11
  CHECK_FALSE(after(pager, numbered(9, 2)));
  CHECK(pager.end() == PagerEnd::empty_page);
  CHECK(pager.doubt() == PagerDoubt::none);
}

TEST_CASE("a 404 behind a short page is confirmed by the row after its last one") {
  Pager pager({10, 1, {}, 0});
  pager.next_request();
  after(pager, numbered(0, 10));
  after(pager, numbered(10, 4));
  CHECK(after_status(pager, 404) == PageRequest{15, 1});
  CHECK_FALSE(after_status(pager, 404));
  CHECK(pager.done());
  CHECK(pager.end() == PagerEnd::empty_page);
}

TEST_CASE("an empty page to resume from is confirmed by the page behind it") {
  Pager pager({10, 5, {}, 0});
  CHECK(pager.next_request() == PageRequest{5, 10});
  CHECK(after(pager, {}) == PageRequest{1, 10});
  CHECK(after(pager, numbered(0, 10)) == PageRequest{6, 10});
}

TEST_CASE("positions that would overflow are not computed") {
  Pager pager({10, Pager::last_page, {}, 0});
  pager.next_request();
  after(pager, numbered(0, 10));
  after(pager, numbered(10, 4));
  CHECK(after(pager, {}) == PageRequest{Pager::last_page + 3, 10});
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
