// Rows chosen by conditions, sorted, copied, joined and compared.
#include "table/row_selection.hpp"

#include <doctest/doctest.h>

#include <array>
#include <ctime>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "decode/decode.hpp"
#include "export/json.hpp"
#include "table/records.hpp"
#include "table/row_values.hpp"

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

// Gathering, joining and comparing rows.

namespace {

TablePtr decoded(const std::string& json, bool keep_personal_data = false) {
  return decode_list(stock_schema, Buffer(json), {.keep_personal_data = keep_personal_data});
}

// Inline text, text of 13 bytes in the body, escaped text beside it, a null, an unknown field.
const std::string three =
    R"([{"nsesymbol": "INFY", "mcap": 1.5, "first": 1},
        {"nsesymbol": "thirteen byte", "mcap": null, "second": [2], "first": "one"},
        {"nsesymbol": "escaped\n\u0000 and long", "co_code": -7}])";

const int nsesymbol = stock_schema["nsesymbol"];

std::string bytes_of(const Table& table, std::int64_t row) {
  std::string bytes;
  append_row(bytes, table, row);
  return bytes;
}

}  // namespace

TEST_CASE("gathered rows equal their sources and own their storage") {
  TablePtr source = decoded(three);
  const std::array<std::int64_t, 4> rows{2, 0, 1, 1};
  const auto gathered = gather(*source, rows);
  REQUIRE(gathered->rows() == 4);
  CHECK_FALSE(gathered->holds_body());
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)];
    CHECK(same_row(*gathered, i, *source, row));
    CHECK(bytes_of(*gathered, i) == bytes_of(*source, row));
  }
  source.reset();
  CHECK(gathered->text(nsesymbol, 2) == "thirteen byte");
  CHECK(gathered->text(nsesymbol, 0) == std::string("escaped\n\0 and long", 18));
}

TEST_CASE("no rows gather to an empty table") {
  CHECK(gather(*decoded(three), {})->rows() == 0);
}

TEST_CASE("slices of several tables are joined in order, their unknown names by text") {
  const TablePtr one = decoded(three);
  const TablePtr other = decoded(R"([{"second": 9, "first": 8}, {"third": 7}])");
  const auto joined = concat(std::array<Slice, 4>{
      Slice{one.get(), 1, 3}, {other.get(), 0, 2}, {one.get(), 0, 0}, {one.get(), 0, 1}});
  REQUIRE(joined->rows() == 5);
  CHECK(same_row(*joined, 0, *one, 1));
  CHECK(same_row(*joined, 2, *other, 0));
  CHECK(same_row(*joined, 3, *other, 1));
  CHECK(same_row(*joined, 4, *one, 0));
  CHECK(joined->extra_names() == std::vector<std::string>{"second", "first", "third"});
}

TEST_CASE("tables of different records are not joined, nor is nothing") {
  const TablePtr stocks = decoded("[]");
  const TablePtr trades = decode_list(trade_schema, Buffer("[]"), {});
  CHECK_THROWS_AS(concat(std::array<Slice, 2>{Slice{stocks.get(), 0, 0}, {trades.get(), 0, 0}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(concat({}), std::invalid_argument);
}

TEST_CASE("rows differ in a value, in a null, in an unknown field") {
  const TablePtr table = decoded(R"([{"mcap": 1}, {"mcap": 2}, {"mcap": null}, {"mcap": 0},
      {"mcap": -0.0}, {"mcap": 1, "more": 1}, {"mcap": 1, "more": 2}])");
  for (std::int64_t a = 0; a < table->rows(); ++a) {
    for (std::int64_t b = 0; b < table->rows(); ++b) {
      const bool zeros = (a == 3 || a == 4) && (b == 3 || b == 4);
      CHECK(same_row(*table, a, *table, b) == (a == b || zeros));
      CHECK((bytes_of(*table, a) == bytes_of(*table, b)) == same_row(*table, a, *table, b));
    }
  }
}

TEST_CASE("the order of unknown fields does not count, their text does") {
  const TablePtr table = decoded(R"([{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1, "b": 2.0}])");
  CHECK(same_row(*table, 0, *table, 1));
  CHECK_FALSE(same_row(*table, 0, *table, 2));
  CHECK(bytes_of(*table, 0) == bytes_of(*table, 1));
  CHECK(bytes_of(*table, 0) != bytes_of(*table, 2));
}

TEST_CASE("F125: rows of very many unknown fields in another order are compared at once") {
  constexpr int count = 50'000;
  std::string ascending, descending;
  for (int i = 0; i < count; ++i) {
    ascending += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":1";
    descending += (i > 0 ? ",\"" : "\"") + std::to_string(count - 1 - i) + "\":1";
  }
  const TablePtr table = decoded("[{" + ascending + "},{" + descending + "}]");
  const std::clock_t begin = std::clock();
  CHECK(same_row(*table, 0, *table, 1));
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 3);
}

TEST_CASE("a table is masked if all its sources are") {
  const auto record = [](bool keep) {
    return decode_list(trade_schema, Buffer(R"([{"pan_no": "ABCDE1234F"}])"),
                       {.keep_personal_data = keep});
  };
  const TablePtr kept = record(true);
  const TablePtr hidden = record(false);
  CHECK(gather(*hidden, std::array<std::int64_t, 1>{0})->masked());
  CHECK_FALSE(
      concat(std::array<Slice, 2>{Slice{kept.get(), 0, 1}, {hidden.get(), 0, 1}})->masked());
}

TEST_CASE("very many unknown names are joined in one pass over them") {
  std::string json = "[{";
  constexpr int names = 50'000;
  for (int i = 0; i < names; ++i) json += (i == 0 ? "\"x" : ",\"x") + std::to_string(i) + "\":1";
  const TablePtr table = decoded(json + "}]");
  const auto copy = gather(*table, std::array<std::int64_t, 1>{0});
  CHECK(copy->extra_names().size() == names);
  CHECK(same_row(*copy, 0, *table, 0));
}
