// First-in-first-out matching, and the multiplier of a contract.
#include "compute/lots.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compute/trades.hpp"
#include "support/failing_memory.hpp"

using namespace tradingdata;
using test::Fill;

namespace {

constexpr std::int64_t paise = 100;

constexpr std::int64_t ever = INT64_MAX;

LotFold fold_of(const GroupPart& trades, FoldRules rules) {
  rules.buy = "B";
  return {trades, std::move(rules)};
}

LotFold folded(const std::vector<Fill>& fills, bool may_short = true) {
  const TablePtr table = test::trades(fills);
  const Groups groups = test::grouped(table, {{trade_schema["client_id"]}});
  FoldRules rules;
  rules.may_short = {static_cast<std::uint8_t>(may_short)};  // of the one key
  LotFold fold = fold_of(groups.parts[0], rules);
  fold.run(ever);
  return fold;
}

std::int64_t whole(int128 value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

TEST_CASE("lots are put, closed and ended at moments, between which the journal is read") {
  constexpr std::int64_t second = 1'000'000;
  const TablePtr table = test::trades({{"", "B", 9, 5, 100}, {"2", "S", 2, 2, 110}});
  const Groups groups = test::grouped(table, {{trade_schema["client_id"]}});
  FoldRules rules;
  rules.opening = 1;
  rules.may_short = {1};
  LotFold fold = fold_of(groups.parts[0], rules);
  fold.put({0, 0, true, INT64_MIN, INT64_MIN, 5, int128{500 * paise}});
  fold.put({7, 0, true, 5 * second, second, 1, int128{7 * paise}});
  fold.put({6, 0, true, INT64_MIN, second, 1, int128{6 * paise}});
  fold.run(3 * second);
  CHECK(fold.side(0) == 1);
  const std::vector<OpenPart> before = fold.open();  // in the order of their times
  REQUIRE(before.size() == 3);
  CHECK(std::tuple(before[0].row, before[1].row, before[2].row) == std::tuple(0, 6, 7));
  CHECK(before[0].quantity == 3);
  fold.close(8, 0, 4, int128{480 * paise}, 4 * second);
  fold.end(fold.open()[0].lot, 5 * second);
  CHECK(fold.open().empty());
  CHECK(fold.side(0) == 0);
  CHECK(fold.matches(0, ever).size() == 3);
  CHECK(fold.matches(3 * second, ever).size() == 2);
  CHECK(fold.open(second).size() == 1);
  CHECK(fold.open(second + 1).size() == 3);
  CHECK(fold.open(4 * second).size() == 3);
  CHECK(fold.open(4 * second + 1).size() == 1);
  int128 realised = 0;
  int128 value = 0;
  int128 quantity = 0;
  for (const Step& step : fold.steps({0, 3 * second})) {
    realised += step.realised;
    value += step.value;
    quantity += step.quantity;
  }
  CHECK(whole(realised) == (220 - 200 + 480 - 300 - 6) * paise);
  CHECK(std::pair(whole(value), whole(quantity)) == std::pair<std::int64_t, std::int64_t>());
  CHECK(fold.rows(0)[0].last == 0);
  CHECK(fold.rows(ever)[0].first == 0);
}

TEST_CASE("the values of all parts add up to those of the trades") {
  std::mt19937 random(45);
  for (int round = 0; round < 200; ++round) {
    std::vector<Fill> fills;
    std::int64_t bought = 0;
    std::int64_t quantity = 0;
    for (int number = 1; number <= 12; ++number) {
      Fill fill{std::to_string(number), random() % 2 == 0 ? "B" : "S", number};
      fill.quantity = static_cast<std::int64_t>(1 + random() % 9);
      const auto value = static_cast<std::int64_t>(random() % 100'000);
      fill.value = static_cast<double>(value) / paise;
      const std::int64_t sign = fill.side == "B" ? 1 : -1;
      bought += sign * value;
      quantity += sign * fill.quantity;
      fills.push_back(fill);
    }
    const LotFold fold = folded(fills);
    for (const Match& one : fold.matches(0, ever)) {
      bought += whole(one.trade_value - one.lot_value) * (one.is_long ? 1 : -1);
    }
    for (const OpenPart& lot : fold.open()) {
      bought -= whole(lot.value) * (lot.is_long ? 1 : -1);
      quantity -= lot.quantity * (lot.is_long ? 1 : -1);
    }
    REQUIRE(std::pair(bought, quantity) == std::pair<std::int64_t, std::int64_t>());
  }
}

TEST_CASE("a part has its share of the whole lot, however the earlier ones were rounded") {
  const LotFold fold =
      folded({{"1", "B", 1, 3, 1, 0.01}, {"2", "S", 2, 1}, {"3", "S", 3, 1}, {"4", "S", 4, 1}});
  const std::vector<Match> parts = fold.matches(0, ever);
  REQUIRE(parts.size() == 3);
  CHECK(std::tuple(whole(parts[0].lot_value), whole(parts[1].lot_value)) == std::tuple(0, 1));
}

TEST_CASE("a multiplier is what gives the value of every trade") {
  const auto multiplier = [](const std::vector<Fill>& fills) {
    const TablePtr table = test::trades(fills);
    const Groups groups = test::grouped(table, {{trade_schema["client_id"]}});
    return multipliers_of(groups.parts[0], std::vector<std::int32_t>{0}).by_group[0];
  };
  CHECK(multiplier({{"1", "B", 1, 10, 2.5}}) == 1);
  CHECK(multiplier({{"1", "B", 1, 2, 100, 3000}, {"2", "S", 2, 1, 110, 1650}}) == 15);
  CHECK(multiplier({{"1", "B", 1, 2, 100, 3000}, {"2", "S", 2, 1, 110, 1700}}) == 0);
  CHECK(multiplier({{"1", "B", 1, 2, 0, 0}}) == Multipliers::unsaid);
}

TEST_CASE("trades whose values have no multiplier in common count in different units") {
  const auto conflict = [](const std::vector<Fill>& fills) {
    const TablePtr table = test::trades(fills);
    const Groups groups = test::grouped(table, {{trade_schema["client_id"]}});
    const Multipliers found = multipliers_of(groups.parts[0], std::vector<std::int32_t>{0});
    return std::pair(found.proof[0], found.odd[0]);
  };
  CHECK(conflict({{"1", "B", 1, 50, 10, 500}, {"2", "S", 2, 1, 10, 500}}) ==
        std::pair<std::int64_t, std::int64_t>(0, 1));
  CHECK(conflict({{"1", "B", 1, 1, 10, 500}, {"2", "S", 2, 50, 10, 500}}) ==
        std::pair<std::int64_t, std::int64_t>(0, 1));
  CHECK(conflict({{"1", "B", 1, 2, 100, 3000}, {"2", "S", 2, 1, 110, 1700}}).first == -1);
}

TEST_CASE("a key takes no memory of its own before it has a lot") {
  std::vector<Fill> fills;
  for (int number = 0; number < 1000; ++number) fills.push_back({std::to_string(number), "B"});
  const TablePtr table = test::trades(fills);
  const Groups groups = test::grouped(table, {{trade_schema["trade_no"]}});
  FoldRules rules;
  failing_memory::fail_after(100);
  {
    const LotFold fold = fold_of(groups.parts[0], std::move(rules));
  }
  CHECK_FALSE(failing_memory::stop());
}
