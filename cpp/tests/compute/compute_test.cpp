// Exact sums, groups and lots, on values whose results are known by hand.
#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "compute/groups.hpp"
#include "compute/lots.hpp"
#include "support/decoding.hpp"
#include "table/records.hpp"

using namespace tradingdata;

namespace {

std::string trade(const std::string& side, const std::string& quantity, const std::string& value,
                  const std::string& more = R"("exch_trade_time": "2026-11-20 09:15:00")") {
  return R"({"txn_type": ")" + side + R"(", "quantity": )" + quantity + R"(, "trade_value": )" +
         value + ", " + more + "}";
}

TablePtr trades(const std::vector<std::string>& rows) {
  std::string json;
  for (const std::string& row : rows) json += (json.empty() ? "[" : ",") + row;
  return decode_list(trade_schema, Buffer(json + "]"), {});
}

Groups grouped(const Table& table, const std::vector<KeyField>& key) {
  const std::array parts{GroupedRows{{&table, 0, table.rows()}, key}};
  return group_rows(parts);
}

}  // namespace

TEST_CASE("a unit holds every value exactly, in the paisa if it can") {
  CHECK(decimals_of(std::array{1.0, 11993.6, -0.25}) == 2);
  CHECK(decimals_of(std::array{0.125}) == 4);
  CHECK(decimals_of(std::array{0.1 + 0.2}) == 17);
  CHECK(decimals_of(std::array{1e22}) == 0);
  const auto units = in_units(std::array{11993.6, -0.01, 1e22}, 2);
  CHECK((units[0] == 1199360 && units[1] == -1));
  CHECK(units[2] == int128{1'000'000'000'000} * 1'000'000'000'000);
}

TEST_CASE("what does not fit is an error, not a rounded sum") {
  CHECK_THROWS_AS(in_units(std::array{1e300}, 7), AmountsTooLarge);
  const int128 large = int128{1} << 124;
  CHECK(sum_of(large, large) == large * 2);
  CHECK_THROWS_AS(sum_of(large * 2, large), AmountsTooLarge);
  CHECK_THROWS_AS(product_of(large, 3), AmountsTooLarge);
  CHECK_THROWS_AS(product_of(-3, large), AmountsTooLarge);
}

TEST_CASE("shares of a value add up to it and are rounded halves upward") {
  CHECK(share_of(10000, 2, 3) == 6667);
  CHECK(share_of(-10000, 2, 3) == -6667);
  CHECK(share_of(1, 1, 2) == 1);
  CHECK(share_of(-1, 1, 2) == 0);
}

TEST_CASE("units become the nearest double") {
  CHECK(nearest_double(30, 2) == 0.3);
  CHECK(nearest_double(-1199360, 2) == -11993.6);
  CHECK(nearest_double(int128{9007199254740993} * 1000, 3) == 9007199254740992.0);
  CHECK(nearest_double(int128{1} << 100, 25) == doctest::Approx(126765.0600228229));
  CHECK(nearest_double(0, 30) == 0.0);
}

TEST_CASE("rows are grouped by several fields, missing values together") {
  const auto table = trades({
      R"({"symbol": "INFY", "order_date_time": "2026-11-20 09:15:00"})",
      R"({"symbol": null, "order_date_time": "2026-11-20 09:15:00"})",
      R"({"symbol": "INFY", "order_date_time": "2026-11-20 15:15:00"})",
      R"({"symbol": "INFY", "order_date_time": "2026-11-21 09:15:00"})",
      R"({"order_date_time": "2026-11-20 10:15:00"})",
  });
  const Groups groups =
      grouped(*table, {{trade_schema["symbol"]}, {trade_schema["order_date_time"], true}});
  const GroupPart& part = groups.parts[0];
  CHECK(part.group == std::vector<std::int32_t>{0, 1, 0, 2, 1});
  CHECK(part.first == std::vector<std::int64_t>{0, 1, 3});
  CHECK(part.last == std::vector<std::int64_t>{2, 4, 3});
  CHECK(part.count == std::vector<std::int64_t>{2, 2, 1});
  const std::array parts{GroupedRows{part.rows, {{trade_schema["symbol"]}}}};
  CHECK(coarser(groups, parts) == std::vector<std::int32_t>{0, 1, 0});
  CHECK(likenesses(part, trade_schema["symbol"]) == std::vector<std::uint8_t>{1, 2, 1});
  CHECK(likenesses(part, trade_schema["order_date_time"]) == std::vector<std::uint8_t>{5, 5, 1});
  CHECK(extreme_rows(part, trade_schema["order_date_time"], true) ==
        std::vector<std::int64_t>{2, 4, 3});
}

TEST_CASE("two tables share their groups, long text included") {
  const std::string name = "a symbol of more than twelve bytes";
  const auto one = trades({R"({"symbol": ")" + name + "\"}", R"({"symbol": "INFY"})"});
  const auto two = trades({R"({"symbol": "TCS"})", R"({"symbol": ")" + name + "\"}"});
  const int symbol = trade_schema["symbol"];
  const std::array parts{GroupedRows{{one.get(), 0, 2}, {{symbol}}},
                         GroupedRows{{two.get(), 0, 2}, {{symbol}}}};
  const Groups groups = group_rows(parts);
  CHECK(groups.count == 3);
  CHECK(groups.parts[1].group == std::vector<std::int32_t>{2, 0});
  CHECK(groups.parts[0].first == std::vector<std::int64_t>{0, 1, -1});
}

TEST_CASE("a sum lacks a value where a row does") {
  const auto table = trades({trade("B", "5", "0.1"), trade("B", "6", "0.2"),
                             R"({"txn_type": "S", "quantity": null, "trade_value": 1})"});
  const GroupPart part = grouped(*table, {{trade_schema["txn_type"]}}).parts[0];
  const Amounts quantities = sums(part, amounts_of(part.rows, trade_schema["quantity"], 0));
  CHECK((quantities.units[0] == 11 && quantities.known[0] && !quantities.known[1]));
  const int value = trade_schema["trade_value"];
  CHECK(decimals_of(part.rows, value, 0) == 2);
  CHECK(sums(part, amounts_of(part.rows, value, 2)).units[0] == 30);
}

TEST_CASE("a sale closes the oldest lots and the rest opens a short one") {
  const auto table =
      trades({trade("B", "3", "100"), trade("B", "10", "1100"), trade("S", "15", "1800")});
  const GroupPart part = grouped(*table, {}).parts[0];
  const std::vector<std::uint8_t> all(3, 1);
  const std::vector<std::uint8_t> none(3, 0);
  const Matching found = match_lots(part, {.buy = "B", .may_short = all});
  REQUIRE(found.matches.size() == 2);
  CHECK((found.matches[0].lot == 0 && found.matches[0].trade == 2));
  CHECK((found.matches[0].quantity == 3 && found.matches[0].lot_value == 10000));
  CHECK(found.matches[0].trade_value == 36000);
  REQUIRE(found.open.size() == 1);
  CHECK((!found.open[0].is_long && found.open[0].quantity == 2 && found.open[0].value == 24000));
  const Matching without = match_lots(part, {.buy = "B", .may_short = none});
  CHECK((without.open.empty() && without.unmatched.size() == 1));
}

TEST_CASE("trades are matched by time, and only what closes later is reported") {
  const std::string monday = R"("exch_trade_time": "2026-11-23 09:15:00")";
  const auto table = trades({trade("S", "1", "12", monday), trade("B", "1", "10")});
  const GroupPart part = grouped(*table, {}).parts[0];
  const std::vector<std::uint8_t> all(2, 1);
  MatchingRules rules{.buy = "B", .may_short = all};
  CHECK(match_lots(part, rules).matches.at(0).is_long);
  rules.counted_from = std::numeric_limits<std::int64_t>::max();
  CHECK(match_lots(part, rules).matches.empty());
}

TEST_CASE("a multiplier is proved by value, quantity, price and lot size") {
  const std::string lot = R"("lot_size": 50, "traded_price": 10)";
  const auto one =
      trades({trade("B", "2", "1000", lot), trade("B", "2", "20", R"("lot_size": 1)")});
  CHECK(multipliers_of(grouped(*one, {}).parts[0]).by_group[0] == 50);
  const auto both = trades({trade("B", "2", "1000", lot), trade("B", "2", "20", lot)});
  const Multipliers found = multipliers_of(grouped(*both, {}).parts[0]);
  CHECK((found.conflict == 1 && found.proof == 0 && found.conflicting == 1));
}
