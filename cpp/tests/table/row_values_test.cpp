// Equality of rows, whichever table holds them.
#include "table/row_values.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

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
