// Rows copied, joined and compared; how they are chosen and sorted is proved in Python.
#include "table/row_selection.hpp"

#include <doctest/doctest.h>

#include <array>
#include <ctime>
#include <string>
#include <vector>

#include "support/whole_body.hpp"
#include "table/records.hpp"
#include "table/row_values.hpp"

using namespace tradingdata;

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

TEST_CASE("rows of very many unknown fields in another order are compared at once") {
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
