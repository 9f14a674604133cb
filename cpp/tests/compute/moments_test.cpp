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

TEST_CASE("trades of one second are in the order of numbers that run with time") {
  const Ordered rising = ordered({{"1", "B", 5}, {"3", "S", 7}, {"2", "B", 7}});
  CHECK(rising.numbers == Numbers{"1", "2", "3"});
  CHECK(rising.decided);
  const Ordered falling = ordered({{"9", "B", 5}, {"7", "S", 7}, {"8", "B", 7}});
  CHECK(falling.numbers == Numbers{"9", "8", "7"});
  CHECK(falling.decided);
}

TEST_CASE("each exchange's trade numbers are compared with its own times") {
  std::vector<Fill> fills{{"2", "S", 7}, {"1", "B", 7}, {"0", "B", 5}};
  Fill other{"500", "B", 5};
  other.exchange = "BSE";
  fills.push_back(other);
  const Ordered order = ordered(fills);
  CHECK(order.numbers == Numbers{"0", "500", "1", "2"});
  CHECK(order.decided);
}

TEST_CASE("trades of one time only are in the order of their numbers, then of their rows") {
  CHECK(ordered({{"2", "B"}, {"1", "S"}}).numbers == Numbers{"1", "2"});
  Fill first{"x", "B"};
  Fill second{"y", "S"};
  first.row = 2;
  second.row = 1;
  const Ordered by_row = ordered({first, second});
  CHECK(by_row.numbers == Numbers{"y", "x"});
  CHECK(by_row.decided);
}

TEST_CASE("a tie that no number decides is undecided, in whatever direction the rows are") {
  CHECK_FALSE(ordered({{"x", "B", 5}, {"y", "S", 7}, {"z", "B", 7}}).decided);
  CHECK_FALSE(ordered({{"z", "B", 7}, {"y", "S", 7}, {"x", "B", 5}}).decided);
  CHECK_FALSE(ordered({{"2", "B", 5}, {"3", "S", 7}, {"1", "B", 7}, {"0", "B", 9}}).decided);
  CHECK(ordered({{"x", "B", 5}, {"y", "S", 7}, {"z", "S", 7}}).decided);  // of one side
}

TEST_CASE("numbers of two exchanges do not order a second of a group that shows both as one") {
  const std::vector<Fill> fills{{"1", "B"}, {"2", "S"}};
  CHECK(ordered(fills, {0, 0}).decided);
  CHECK_FALSE(ordered(fills, {0, 1}).decided);
}

TEST_CASE("a response's numbers are compared with the times of its own day") {
  constexpr std::int64_t day = 86'400;
  const std::vector<Fill> fills{{"9", "B", 5},       {"8", "S", 7},       {"7", "B", 7},
                                {"1", "B", day + 5}, {"2", "S", day + 7}, {"3", "B", day + 7}};
  const Ordered order = ordered(fills);
  CHECK(order.numbers == Numbers{"9", "8", "7", "1", "2", "3"});
  CHECK(order.decided);
}

TEST_CASE("a number that two trades have, or that one lacks, orders nothing") {
  CHECK_FALSE(ordered({{"1", "B", 5}, {"2", "S", 7}, {"2", "B", 7}}).decided);
  CHECK_FALSE(ordered({{"1", "B", 5}, {"2", "S", 7}, {"", "B", 7}}).decided);
  CHECK_FALSE(ordered({{"", "B", 5}, {"2", "S", 7}, {"1", "B", 7}}).decided);
}
