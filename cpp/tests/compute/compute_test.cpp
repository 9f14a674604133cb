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
