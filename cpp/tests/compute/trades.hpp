// Tables of trades, written row by row.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compute/groups.hpp"
#include "table/records.hpp"

namespace tradingdata::test {

struct Fill {
  static constexpr std::int64_t unknown = -1;  // a second

  std::string number;
  std::string side;
  std::int64_t second = 0;
  std::int64_t quantity = 10;
  double price = 1;
  double value = -1;      // quantity * price unless given
  std::int64_t row = -1;  // of its response; -1: not sent
  std::string exchange = "NSE";
};

inline TablePtr trades(const std::vector<Fill>& fills) {
  TableBuilder builder(trade_schema);
  builder.reserve(static_cast<std::int64_t>(fills.size()));
  std::int64_t row = 0;
  for (const Fill& fill : fills) {
    for (int field = 0; field < trade_schema.width(); ++field) builder.set_null(field, row);
    const auto set = [&]<typename T>(int field, T value) {
      builder.unset_null(field, row);
      builder.cells<T>(field)[row] = value;
    };
    set(trade_schema["trade_no"], builder.keep_text(fill.number));
    set(trade_schema["txn_type"], builder.keep_text(fill.side));
    set(trade_schema["exchange"], builder.keep_text(fill.exchange));
    if (fill.second != Fill::unknown) set(trade_schema["exch_trade_time"], fill.second * 1'000'000);
    set(trade_schema["quantity"], fill.quantity);
    set(trade_schema["traded_price"], fill.price);
    const double product = static_cast<double>(fill.quantity) * fill.price;
    set(trade_schema["trade_value"], fill.value < 0 ? product : fill.value);
    if (fill.row >= 0) set(trade_schema["row_no"], fill.row);
    ++row;
  }
  builder.set_rows(row);
  return std::move(builder).build();
}

// The rows of a table, grouped by some fields.
inline Groups grouped(const TablePtr& table, const std::vector<KeyField>& key) {
  const GroupedRows rows{{table.get(), 0, table->rows()}, key};
  return group_rows({&rows, 1});
}

}  // namespace tradingdata::test
