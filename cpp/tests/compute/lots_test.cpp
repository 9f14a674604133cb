// First-in-first-out matching, and the multiplier of a contract.
#include "compute/lots.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "compute/trades.hpp"

using namespace tradingdata;
using test::Fill;

namespace {

constexpr std::int64_t paise = 100;

struct Matched {
  TablePtr table;
  Matching matching;
};

Matched match(const std::vector<Fill>& fills, MatchingRules rules = {}, bool may_short = true) {
  const TablePtr table = test::trades(fills);
  const Groups groups = test::grouped(table, {{trade_schema["client_id"]}});
  const std::uint8_t permitted[] = {static_cast<std::uint8_t>(may_short)};  // of the one group
  rules.buy = "B";
  rules.may_short = permitted;
  return {table, match_lots(groups.parts[0], rules)};
}

std::int64_t whole(int128 value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

TEST_CASE("a trade closes the oldest lots of the other side, and its rest opens one") {
  const Matching found =
      match({{"1", "B", 1, 10, 100}, {"2", "B", 2, 10, 101}, {"3", "S", 3, 25, 105}}).matching;
  REQUIRE(found.matches.size() == 2);
  CHECK(found.matches[0].lot == 0);
  CHECK(found.matches[1].lot == 1);
  CHECK(found.matches[0].is_long);
  CHECK(whole(found.matches[1].trade_value) == 10 * 105 * paise);
  REQUIRE(found.open.size() == 1);
  CHECK_FALSE(found.open[0].is_long);
  CHECK(found.open[0].quantity == 5);
  CHECK(whole(found.open[0].value) == 5 * 105 * paise);
}

TEST_CASE("a sale that may open no lot is unmatched") {
  const Matching found = match({{"1", "S", 1, 7, 10}}, {}, false).matching;
  CHECK(found.open.empty());
  REQUIRE(found.unmatched.size() == 1);
  CHECK(found.unmatched[0].quantity == 7);
}

TEST_CASE("opening lots come first, settlements last, and only what is counted is reported") {
  const std::vector<Fill> fills{{"", "B", 9, 5, 100}, {"2", "S", 2, 2, 110}, {"", "S", 1, 3, 120}};
  MatchingRules rules;
  rules.opening = rules.settlements = 1;
  const Matching all = match(fills, rules).matching;
  REQUIRE(all.matches.size() == 2);
  CHECK(all.matches[0].trade == 1);
  CHECK(all.matches[1].trade == 2);
  CHECK(all.open.empty());
  rules.counted_from = 2'000'000;
  CHECK(match(fills, rules).matching.matches.size() == 1);
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
    const Matching found = match(fills).matching;
    for (const Match& one : found.matches) {
      bought += whole(one.trade_value - one.lot_value) * (one.is_long ? 1 : -1);
    }
    for (const LotPart& lot : found.open) {
      bought -= whole(lot.value) * (lot.is_long ? 1 : -1);
      quantity -= lot.quantity * (lot.is_long ? 1 : -1);
    }
    REQUIRE(std::pair(bought, quantity) == std::pair<std::int64_t, std::int64_t>());
  }
}

TEST_CASE("matches are by group, and in time; totals are those of a group") {
  const TablePtr table = test::trades({{"1", "S", 1, 4, 10, -1, -1, "NSE"},
                                       {"2", "B", 2, 4, 20, -1, -1, "BSE"},
                                       {"3", "S", 3, 1, 30, -1, -1, "BSE"},
                                       {"4", "B", 4, 6, 10.5, -1, -1, "NSE"},
                                       {"5", "S", 5, 2, 25, -1, -1, "BSE"},
                                       {"6", "S", 6, 3, 25, -1, -1, "BSE"}});
  const Groups groups = test::grouped(table, {{trade_schema["exchange"]}});
  const std::uint8_t may_short[] = {1, 0};
  MatchingRules rules;
  rules.buy = "B";
  rules.may_short = may_short;
  const Matching found = match_lots(groups.parts[0], rules);
  const auto trades_of = [](const std::vector<Match>& matches) {
    std::vector<std::int64_t> rows;
    for (const Match& one : matches) rows.push_back(one.trade);
    return rows;
  };
  CHECK(trades_of(found.matches) == std::vector<std::int64_t>{3, 2, 4, 5});
  CHECK(trades_of(matches_in_time(found)) == std::vector<std::int64_t>{2, 3, 4, 5});
  REQUIRE(unmatched_in_time(found).size() == 1);
  CHECK(unmatched_in_time(found)[0].row == 5);
  const auto& [of_shorts, of_longs] = std::pair(found.totals.at(0), found.totals.at(1));
  CHECK(whole(of_shorts.quantity) == 4);
  CHECK(whole(of_shorts.cost) == 42 * paise);
  CHECK(whole(of_shorts.proceeds) == 40 * paise);
  CHECK(whole(of_shorts.open) == 2);
  CHECK(whole(of_shorts.open_value) == 21 * paise);
  CHECK(whole(of_longs.quantity) == 4);
  CHECK(whole(of_longs.cost) == 80 * paise);
  CHECK(whole(of_longs.proceeds) == 105 * paise);
  CHECK(whole(of_longs.unmatched) == 2);
  CHECK(whole(of_longs.unmatched_value) == 50 * paise);
  CHECK(whole(of_longs.open) == 0);
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
