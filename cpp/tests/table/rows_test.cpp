// Rows, whichever table holds them: equal by their values, and copied; all else is proved in
// Python.
#include "table/rows.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/whole_body.hpp"
#include "table/records.hpp"

using namespace tradingdata;

namespace {

constexpr int number = trade_schema["order_no"];
constexpr int symbol = trade_schema["symbol"];
constexpr int quantity = trade_schema["quantity"];
constexpr int price = trade_schema["traded_price"];
constexpr int expiry = trade_schema["expiry_date"];

constexpr std::int64_t rows = 5000;  // more than are compared at once

// Trades, every third without an expiry, with one change; `before` is kept in front of their text.
TablePtr trades(const std::function<void(TableBuilder&)>& change = {}, const char* before = "") {
  TableBuilder builder(trade_schema);
  builder.reserve(rows);
  static_cast<void>(builder.keep_bytes(before));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (int field = 0; field < trade_schema.width(); ++field) builder.set_null(field, row);
    const auto set = [&]<typename T>(int field, T value) {
      builder.unset_null(field, row);
      builder.cells<T>(field)[row] = value;
    };
    set(number, builder.keep_text("an order number of " + std::to_string(row)));
    set(symbol, builder.keep_text(std::to_string(row % 7)));
    set(quantity, row);
    set(price, static_cast<double>(row % 2));
    if (row % 3 != 0) set(expiry, static_cast<std::int32_t>(row % 5));
  }
  builder.set_rows(rows);
  if (change) change(builder);
  return std::move(builder).build();
}

bool same(const TablePtr& a, const TablePtr& b, std::int64_t start = 0, std::int64_t stop = rows) {
  return same_rows({a.get(), start, stop}, {b.get(), start, stop});
}

}  // namespace

TEST_CASE("rows are equal by their text, wherever it lies") {
  CHECK(same(trades(), trades()));
  CHECK(same(trades(), trades({}, "other text")));
  for (const char* text : {"an order number of 499X", "an order number of 49999", "short", ""}) {
    const auto change = [&](TableBuilder& builder) {
      builder.cells<TextView>(number)[4999] = builder.keep_text(text);
    };
    CHECK_FALSE(same(trades(), trades(change)));
    CHECK_FALSE(same(trades(change), trades({}, "other text")));
    CHECK(same(trades(), trades(change), 1, 4999));
    CHECK(same(trades(change), trades(change, "other text")));
  }
}

TEST_CASE("one other value in any field makes rows differ") {
  for (const std::int64_t row : {0, 127, 128, 4223, 4224, 4999}) {
    const auto differ = [row](const auto& change) {
      CHECK_FALSE(same(trades(), trades(change)));
      CHECK(same(trades(), trades(change), 0, row));
      CHECK(same(trades(), trades(change), row + 1));
    };
    differ([row](TableBuilder& builder) { builder.cells<std::int64_t>(quantity)[row] = -1; });
    differ([row](TableBuilder& builder) { builder.cells<double>(price)[row] = 0.5; });
    differ([row](TableBuilder& builder) {
      builder.cells<TextView>(symbol)[row] = builder.keep_text("another");
    });
    differ([row](TableBuilder& builder) { builder.set_null(quantity, row); });
  }
}

TEST_CASE("a missing value equals only a missing one, NaN none, and -0 equals 0") {
  const auto with_price = [](double value) {
    return trades([value](TableBuilder& builder) { builder.cells<double>(price)[2] = value; });
  };
  CHECK(same(with_price(0.0), with_price(-0.0)));
  CHECK_FALSE(same(with_price(std::nan("")), with_price(std::nan(""))));
  const auto unknown = [](int field) {
    return trades([field](TableBuilder& builder) { builder.set_null(field, 2); });
  };
  CHECK_FALSE(same(unknown(price), with_price(0.0)));
  CHECK(same(unknown(price), unknown(price)));
  const auto set = [](TableBuilder& builder) { builder.unset_null(expiry, 3); };
  CHECK_FALSE(same(trades(), trades(set)));  // of 0, the bytes of a missing value
}

namespace {

TablePtr stocks_of(const std::string& json) {
  return decode_list(stock_schema, Buffer(json), {});
}

}  // namespace

TEST_CASE("rows of very many unknown fields in another order are compared at once") {
  constexpr int count = 50'000;
  std::string ascending, descending;
  for (int i = 0; i < count; ++i) {
    ascending += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":1";
    descending += (i > 0 ? ",\"" : "\"") + std::to_string(count - 1 - i) + "\":1";
  }
  const TablePtr table = stocks_of("[{" + ascending + "},{" + descending + "}]");
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

TEST_CASE("rows are copied only into a schema that begins with their fields") {
  const TablePtr table = stocks_of("[{}]");
  const std::array<std::int64_t, 1> row{0};
  CHECK(copy_of(*table, row, stock_schema).table().rows() == 1);
  CHECK_THROWS_AS(copy_of(*table, row, trade_schema), std::invalid_argument);
  const auto narrow = std::make_shared<OwnedSchema>(
      "Narrow", std::vector<OwnedSchema::Column>{{"price", Kind::date}});
  CHECK_THROWS_AS(copy_of(*table, row, narrow->schema()), std::invalid_argument);
}

TEST_CASE("very many unknown names are joined in one pass over them") {
  std::string json = "[{";
  constexpr int names = 50'000;
  for (int i = 0; i < names; ++i) json += (i == 0 ? "\"x" : ",\"x") + std::to_string(i) + "\":1";
  const TablePtr table = stocks_of(json + "}]");
  const auto copy = gather(*table, std::array<std::int64_t, 1>{0});
  CHECK(copy->extra_names().size() == names);
  CHECK(same_row(*copy, 0, *table, 0));
}
