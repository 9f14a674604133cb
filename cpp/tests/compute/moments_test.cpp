// The order of trades in time.
#include "compute/moments.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "compute/trades.hpp"

using namespace tradingdata;
using test::Fill;

namespace {

struct Ordered {
  std::vector<std::string> numbers;
  bool decided;
};

Ordered ordered(const std::vector<Fill>& fills, const std::vector<std::int32_t>& origin = {}) {
  const TablePtr table = test::trades(fills);
  const Groups groups =
      test::grouped(table, {{trade_schema["client_id"]}, {trade_schema["exchange"]}});
  const TradeOrder order = in_time(groups.parts[0], 0, table->rows(), "B", origin);
  Ordered result{{}, order.undecided.empty()};
  for (const std::int64_t row : order.rows) {
    result.numbers.push_back(fills[static_cast<std::size_t>(row)].number);
  }
  return result;
}

using Numbers = std::vector<std::string>;

}  // namespace

TEST_CASE("trades of one second are in the order of the first numbers that fit") {
  constexpr std::int64_t day = 86'400;
  const Fill other{"500", "B", 5, 10, 1, -1, -1, "BSE"};
  struct Case {
    const char* what;
    std::vector<Fill> fills;
    Numbers order;
    bool decided = true;
    std::vector<std::int32_t> origin = {};
  };
  for (const Case& one : std::vector<Case>{
           {"rise", {{"1", "B", 5}, {"3", "S", 7}, {"2", "B", 7}}, {"1", "2", "3"}},
           {"fall", {{"9", "B", 5}, {"7", "S", 7}, {"8", "B", 7}}, {"9", "8", "7"}},
           {"of each exchange",
            {{"2", "S", 7}, {"1", "B", 7}, {"0", "B", 5}, other},
            {"0", "500", "1", "2"}},
           {"of one time", {{"2", "B"}, {"1", "S"}}, {"1", "2"}},
           {"rows of one time",
            {{"x", "B", 0, 10, 1, -1, 2}, {"y", "S", 0, 10, 1, -1, 1}},
            {"y", "x"}},
           {"places decide nothing",
            {{"x", "B", 5}, {"y", "S", 7}, {"z", "B", 7}},
            {"x", "y", "z"},
            false},
           {"places that fall",
            {{"z", "B", 7}, {"y", "S", 7}, {"x", "B", 5}},
            {"x", "y", "z"},
            false},
           {"neither rise nor fall",
            {{"2", "B", 5}, {"3", "S", 7}, {"1", "B", 7}, {"0", "B", 9}},
            {"2", "3", "1", "0"},
            false},
           {"of one side", {{"x", "B", 5}, {"y", "S", 7}, {"z", "S", 7}}, {"x", "y", "z"}},
           {"of one place", {{"1", "B"}, {"2", "S"}}, {"1", "2"}, true, {0, 0}},
           {"of two places", {{"1", "B"}, {"2", "S"}}, {"1", "2"}, false, {0, 1}},
           {"of each day",
            {{"9", "B", 5},
             {"8", "S", 7},
             {"7", "B", 7},
             {"1", "B", day + 5},
             {"2", "S", day + 7},
             {"3", "B", day + 7}},
            {"9", "8", "7", "1", "2", "3"}},
           {"one twice", {{"1", "B", 5}, {"2", "S", 7}, {"2", "B", 7}}, {"1", "2", "2"}, false},
           {"one missing", {{"1", "B", 5}, {"2", "S", 7}, {"", "B", 7}}, {"1", "2", ""}, false},
           {"the first missing",
            {{"", "B", 5}, {"2", "S", 7}, {"1", "B", 7}},
            {"", "2", "1"},
            false},
       }) {
    CAPTURE(one.what);
    const Ordered order = ordered(one.fills, one.origin);
    CHECK(order.decided == one.decided);
    CHECK(order.numbers == one.order);
  }
}
