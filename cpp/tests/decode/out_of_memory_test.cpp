// Every allocation fails once: the work ends in std::bad_alloc, and leaves nothing behind that
// harms the next.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <new>
#include <vector>

#include "export/csv.hpp"
#include "export/json.hpp"
#include "support/bodies.hpp"
#include "support/decoding.hpp"
#include "support/failing_memory.hpp"
#include "table/row_selection.hpp"
#include "table/row_values.hpp"

using namespace tradingdata;
using namespace tradingdata::decoding;

namespace {

// Runs `work` with the first, the second, ... allocation failing, until none fails; `check` runs
// after each failure.
void fail_each(const std::function<void()>& work, const std::function<void()>& check) {
  for (int succeeding = 0;; ++succeeding) {
    REQUIRE(succeeding < 100'000);
    bool failed = false;
    failing_memory::fail_after(succeeding);
    try {
      work();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    failing_memory::stop();
    if (!failed) return;
    check();
  }
}

}  // namespace

TEST_CASE("F113, F125: a decode that ran out of memory does not harm the next") {
  // Another order of keys each time, so that each decode has an order to learn.
  auto records = bodies::records(order_schema, 3);
  const std::string compact = bodies::book(records, bodies::compact);
  for (bodies::Record& record : records) {
    std::reverse(record.begin(), record.end());
    record.emplace_back("not documented, and too long to lie in place", "\"its value\"");
  }
  const std::string reversed = bodies::book(records, bodies::spaced);
  const std::string expected = contents(*book(compact, {}, order_schema));
  const std::string expected_reversed = contents(*book(reversed, {}, order_schema));
  const auto check = [&] {
    CHECK(contents(*book(compact, {}, order_schema)) == expected);
    CHECK(contents(*book(reversed, {}, order_schema)) == expected_reversed);
  };
  fail_each([&] { book(reversed, {}, order_schema); }, check);
  fail_each([&] { book(compact, {}, order_schema); }, check);
}

TEST_CASE("F113: what is made of a book either is made or runs out of memory") {
  const auto orders = [](const std::string& records) {
    return book(R"({"status": "success", "message": "", "data": [)" + records + "]}", {},
                order_schema);
  };
  const TablePtr a = orders(R"({"order_no": "1", "symbol": "a symbol of some length"},
                                {"order_no": "2", "new": {}, "status": "Pending"})");
  const TablePtr b = orders(R"({"order_no": "2", "new": [], "status": "Success"})");
  const Slice slices[] = {{a.get(), 0, 2}, {b.get(), 0, 1}};
  const int symbol = order_schema.find("symbol");
  const auto none = [] {};
  fail_each([&] { concat(slices); }, none);
  fail_each([&] { categories_of(*a, symbol, 0, 2); }, none);
  fail_each([&] { rows_as_json(*a, 0, 2); }, none);
  fail_each([&] { rows_as_csv(*a, {.length = 2, .columns = {symbol}}); }, none);
}
