// What tests in Python cannot make of groups and of folds: keys that share a hash, and memory that
// ends.
#include "compute/groups.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compute/lots.hpp"
#include "support/failing_memory.hpp"
#include "table/records.hpp"

using namespace tradingdata;

namespace {

constexpr int trade_no = trade_schema["trade_no"];
constexpr int row_no = trade_schema["row_no"];
constexpr int price = trade_schema["traded_price"];
constexpr int time_of_trade = trade_schema["exch_trade_time"];

// Trades with these numbers, at 0.0 and -0.0 by turns, and a day apart. The first has no row number
// and the others have 0.
TablePtr trades(const std::vector<std::string>& numbers) {
  constexpr std::int64_t day = 86'400'000'000;
  TableBuilder builder(trade_schema);
  builder.reserve(std::ssize(numbers));
  std::int64_t row = 0;
  for (const std::string& number : numbers) {
    for (int field = 0; field < trade_schema.width(); ++field) builder.set_null(field, row);
    const auto set = [&]<typename T>(int field, T value) {
      builder.unset_null(field, row);
      builder.cells<T>(field)[row] = value;
    };
    set(trade_no, builder.keep_text(number));
    set(price, row % 2 == 0 ? 0.0 : -0.0);
    set(time_of_trade, row * day);
    if (row > 0) set(row_no, std::int64_t{0});
    ++row;
  }
  builder.set_rows(row);
  return std::move(builder).build();
}

}  // namespace

TEST_CASE("where two keys have one hash, all are hashed anew") {
  const TablePtr table = trades({"a number of more than 12", "2", "a number of more than 12"});
  using Numbers = std::vector<std::int32_t>;
  const auto numbers = [&](GroupedRows part) {
    int calls = 0;
    part.rows = {table.get(), 0, table->rows()};
    const Groups found = detail::grouped({&part, 1}, [&](const GroupedRows& rows, std::uint64_t) {
      return ++calls == 1 ? std::vector<std::uint64_t>(rows.size(), 7) : hashes_of(rows);
    });
    CHECK((calls == 1) == (found.count == 1));
    return found.parts[0].group;
  };
  CHECK(numbers({{}, {{trade_no}}}) == Numbers{0, 1, 0});
  CHECK(numbers({{}, {{price}, {time_of_trade, true}}}) == Numbers{0, 1, 2});
  CHECK(numbers({{}, {{price}, {trade_schema["settlor"]}}}) == Numbers{0, 0, 0});
  CHECK(numbers({{}, {{row_no}}}) == Numbers{0, 1, 1});
  const Numbers outer{0, 0, 1};
  CHECK(numbers({{}, {{price}}, outer}) == Numbers{0, 0, 1});
}

TEST_CASE("a key takes no memory of its own before it has a lot") {
  std::vector<std::string> numbers;
  for (int number = 0; number < 1000; ++number) numbers.push_back(std::to_string(number));
  const TablePtr table = trades(numbers);
  const GroupedRows rows{{table.get(), 0, table->rows()}, {{trade_no}}};
  const Groups groups = group_rows({&rows, 1});
  FoldRules rules;
  failing_memory::fail_after(100);
  {
    const LotFold fold(groups.parts[0], std::move(rules));
  }
  CHECK_FALSE(failing_memory::stop());
}
