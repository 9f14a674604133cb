// Conditions on values, and the rows that meet them.
#include "table/row_selection.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "decode/decode.hpp"
#include "table/records.hpp"

using namespace tradingdata;
using namespace std::chrono_literals;
using Rows = std::vector<std::int64_t>;

namespace {

const std::string five = R"([
  {"symbol": "INFY", "quantity": 5, "traded_price": 1.5, "exch_trade_time": "2026-11-20 09:15:00",
   "expiry_date": "0001-01-01"},
  {"symbol": "a name that is not inline", "quantity": 50, "traded_price": -0.0,
   "exch_trade_time": "1969-12-31 23:59:59", "expiry_date": "2026-11-26"},
  {"symbol": null, "quantity": null, "traded_price": null, "exch_trade_time": null},
  {"symbol": "INFY", "quantity": 7, "traded_price": 99.5,
   "exch_trade_time": "2026-11-20 15:30:00", "expiry_date": "2026-11-26"},
  {"symbol": "", "quantity": -7, "traded_price": 0.0, "exch_trade_time": "2026-11-21 00:00:00",
   "expiry_date": "2026-12-31"}])";

TablePtr trades() {
  return decode_list(trade_schema, Buffer(five), {});
}

const int symbol = trade_schema["symbol"];
const int quantity = trade_schema["quantity"];
const int price = trade_schema["traded_price"];
const int traded_at = trade_schema["exch_trade_time"];
const int expiry = trade_schema["expiry_date"];

using Integers = std::vector<std::int64_t>;
using Numbers = std::vector<double>;
using Texts = std::vector<std::string>;

Rows rows(const Condition& condition) {
  return rows_where(*trades(), 0, 5, std::array{condition});
}

constexpr std::int64_t minutes(std::int64_t count) {
  return count * 60 * micros_per_second;
}

}  // namespace

TEST_CASE("equality takes any of the wanted values, and a missing one only where it is wanted") {
  CHECK(rows({.field = symbol, .wanted = Texts{"INFY"}}) == Rows{0, 3});
  CHECK(rows({.field = symbol, .wanted = Texts{"INFY", "", "a name that is not inline"}}) ==
        Rows{0, 1, 3, 4});
  CHECK(rows({.field = symbol, .wanted = Texts{}, .null_wanted = true}) == Rows{2});
  CHECK(rows({.field = symbol, .wanted = Texts{"INFY"}, .null_wanted = true}) == Rows{0, 2, 3});
  CHECK(rows({.field = symbol, .wanted = Texts{}}) == Rows{});
  CHECK(rows({.field = quantity, .wanted = Integers{7, -7, 8}}) == Rows{3, 4});
  CHECK(rows({.field = price, .wanted = Numbers{0.0}}) == Rows{1, 4});
}

TEST_CASE("inequality is everything else, missing values included unless they are excluded") {
  constexpr auto differs = Relation::not_equal;
  CHECK(rows({.field = symbol, .relation = differs, .wanted = Texts{"INFY"}}) == Rows{1, 2, 4});
  CHECK(rows({.field = expiry, .relation = differs, .wanted = Integers{}, .null_wanted = true}) ==
        Rows{1, 3, 4});
  CHECK(rows({.field = symbol, .relation = differs, .wanted = Texts{}}) == Rows{0, 1, 2, 3, 4});
}

TEST_CASE("an order is met by no missing value") {
  CHECK(rows({.field = quantity, .relation = Relation::less, .wanted = Integers{7}}) == Rows{0, 4});
  CHECK(rows({.field = quantity, .relation = Relation::less_equal, .wanted = Integers{7}}) ==
        Rows{0, 3, 4});
  CHECK(rows({.field = price, .relation = Relation::greater, .wanted = Numbers{0.0}}) ==
        Rows{0, 3});
  CHECK(rows({.field = price, .relation = Relation::greater_equal, .wanted = Numbers{0.0}}) ==
        Rows{0, 1, 3, 4});
  CHECK(rows({.field = symbol, .relation = Relation::greater, .wanted = Texts{"INFY"}}) == Rows{1});
}

TEST_CASE("a timestamp is compared in full, by its day or by its time of day") {
  const std::int64_t day = days_since_epoch(2026y / 11 / 20);
  const auto at = [](Relation relation, TimePart part, std::int64_t value) {
    return rows(
        {.field = traded_at, .relation = relation, .part = part, .wanted = Integers{value}});
  };
  CHECK(at(Relation::equal, TimePart::all, day * micros_per_day + minutes(555)) == Rows{0});
  CHECK(at(Relation::equal, TimePart::day, day) == Rows{0, 3});
  CHECK(at(Relation::equal, TimePart::day, -1) == Rows{1});
  CHECK(at(Relation::greater, TimePart::day, day) == Rows{4});
  CHECK(at(Relation::greater_equal, TimePart::clock, minutes(930)) == Rows{1, 3});
  CHECK(at(Relation::less, TimePart::clock, minutes(555)) == Rows{4});
}

TEST_CASE("several conditions must all hold, among the rows of the run only") {
  const std::array conditions{
      Condition{.field = symbol, .wanted = Texts{"INFY"}},
      Condition{.field = quantity, .relation = Relation::greater, .wanted = Integers{4}},
  };
  CHECK(rows_where(*trades(), 0, 5, conditions) == Rows{0, 3});
  CHECK(rows_where(*trades(), 1, 5, conditions) == Rows{3});
  CHECK(rows_where(*trades(), 1, 3, conditions) == Rows{});
  CHECK(rows_where(*trades(), 1, 3, {}) == Rows{1, 2});
}

TEST_CASE("rows are sorted stably, those without a value last in either direction") {
  const TablePtr table = trades();
  const auto by = [&](std::vector<SortKey> keys) { return sorted_rows(*table, 0, 5, keys); };
  CHECK(by({{quantity}}) == Rows{4, 0, 3, 1, 2});
  CHECK(by({{quantity, true}}) == Rows{1, 3, 0, 4, 2});
  CHECK(by({{price}}) == Rows{1, 4, 0, 3, 2});
  CHECK(by({{price, true}}) == Rows{3, 0, 1, 4, 2});
  CHECK(by({{symbol}}) == Rows{4, 0, 3, 1, 2});
  CHECK(by({{traded_at}}) == Rows{1, 0, 3, 4, 2});
  CHECK(by({{expiry}, {quantity, true}}) == Rows{1, 3, 4, 0, 2});
  CHECK(by({}) == Rows{0, 1, 2, 3, 4});
  CHECK(sorted_rows(*table, 1, 4, std::array{SortKey{quantity}}) == Rows{3, 1, 2});
}
