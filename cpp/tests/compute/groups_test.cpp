// Rows grouped by the values of fields, and what is calculated of each group.
#include "compute/groups.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "compute/trades.hpp"

using namespace tradingdata;
using test::Fill;

namespace {

constexpr int side = trade_schema["txn_type"];
constexpr int trade_no = trade_schema["trade_no"];
constexpr int time_of_trade = trade_schema["exch_trade_time"];
constexpr int price = trade_schema["traded_price"];

const TablePtr& table() {
  static const TablePtr made = test::trades({{"a number of more than 12", "B", 0, 1, 0.0},
                                             {"2", "S", 86'400, 2, 0.5},
                                             {"a number of more than 12", "B", 86'399, 3, -0.0}});
  return made;
}

using Numbers = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("groups are numbered as they appear, by text of any length, day or number") {
  CHECK(test::grouped(table(), {{trade_no}}).parts[0].group == Numbers{0, 1, 0});
  CHECK(test::grouped(table(), {{time_of_trade, true}}).parts[0].group == Numbers{0, 1, 0});
  CHECK(test::grouped(table(), {{time_of_trade}}).count == 3);
  CHECK(test::grouped(table(), {{price}}).parts[0].group == Numbers{0, 1, 0});  // -0 is 0
  CHECK(test::grouped(table(), {{trade_schema["settlor"]}}).count == 1);  // missing is missing
}

TEST_CASE("keys of other kinds are refused, since their values have other sizes") {
  const Slice rows{table().get(), 0, 3};
  const auto refused = [&](std::vector<KeyField> other) {
    const std::array parts{GroupedRows{rows, {{trade_no}}}, GroupedRows{rows, std::move(other)}};
    CHECK_THROWS_AS(group_rows(parts), std::invalid_argument);
    const Groups groups = test::grouped(table(), {{trade_no}});
    const std::array twice{groups.parts[0], groups.parts[0]};
    CHECK_THROWS_AS(coarser(twice, parts), std::invalid_argument);
  };
  refused({{price}});
  refused({{time_of_trade}});
  refused({});
}

TEST_CASE("rows of one key have one hash, and groups within groups are apart") {
  const Slice rows{table().get(), 0, 3};
  const std::vector<std::uint64_t> hashes = hashes_of({rows, {{trade_no}}});
  CHECK(hashes[0] == hashes[2]);
  CHECK(hashes[0] != hashes[1]);
  const Numbers outer{0, 0, 1};
  const std::array parts{GroupedRows{rows, {{side}}, outer}};
  CHECK(group_rows(parts).parts[0].group == Numbers{0, 1, 2});
}

TEST_CASE("days begin at midnight, also before 1970, and a missing time has none") {
  std::vector<Fill> fills;
  for (const std::int64_t second :
       {-2, 0, 86'399, 86'400, -1, 86'400, 0, -86'400, -86'401, 2 * 86'400 - 1, 2 * 86'400}) {
    fills.push_back({"1", "B", second});
  }
  static_assert(Fill::unknown == -1);
  const TablePtr times = test::trades(fills);
  const KeyField day{time_of_trade, true};
  const auto first_rows = [&](std::int64_t start, std::int64_t stop) {
    const GroupedRows rows{{times.get(), start, stop}, {day}};
    return group_rows({&rows, 1}).parts[0].first;
  };
  CHECK(first_rows(0, 11) == std::vector<std::int64_t>{0, 1, 3, 4, 8, 10});
  CHECK(first_rows(2, 8) == std::vector<std::int64_t>{0, 1, 2, 5});
}

TEST_CASE("keys are compared field by field, and a missing value is no zero") {
  const TablePtr pairs = test::trades({{"ab", "ab"}, {"a", "bab"}, {"aba", "b"}});
  CHECK(test::grouped(pairs, {{trade_no}, {side}}).count == 3);
  std::vector<Fill> fills{{"1", "B"}, {"1", "B"}};
  fills[1].row = 0;
  CHECK(test::grouped(test::trades(fills), {{trade_schema["row_no"]}}).count == 2);
}

TEST_CASE("where two keys have one hash, all are hashed anew") {
  const auto numbers = [&](GroupedRows part, const TablePtr& rows_of = table()) {
    int calls = 0;
    part.rows = {rows_of.get(), 0, rows_of->rows()};
    const Groups found = detail::grouped({&part, 1}, [&](const GroupedRows& rows, std::uint64_t) {
      return ++calls == 1 ? std::vector<std::uint64_t>(rows.size(), 7) : hashes_of(rows);
    });
    CHECK((calls == 1) == (found.count == 1));
    return found.parts[0].group;
  };
  CHECK(numbers({{}, {{trade_no}}}) == Numbers{0, 1, 0});
  CHECK(numbers({{}, {{price}, {time_of_trade, true}}}) == Numbers{0, 1, 0});
  CHECK(numbers({{}, {{time_of_trade}}}) == Numbers{0, 1, 2});
  CHECK(numbers({{}, {{trade_schema["settlor"]}}}) == Numbers{0, 0, 0});
  const Numbers outer{0, 0, 1};
  CHECK(numbers({{}, {{trade_schema["settlor"]}}, outer}) == Numbers{0, 0, 1});
  std::vector<Fill> fills{{"1", "B"}, {"1", "B"}};
  fills[1].row = 0;
  CHECK(numbers({{}, {{trade_schema["row_no"]}}}, test::trades(fills)) == Numbers{0, 1});
}

TEST_CASE("parts share their groups, and a coarser key joins them") {
  const std::array parts{GroupedRows{{table().get(), 0, 1}, {{side}, {price}}},
                         GroupedRows{{table().get(), 1, 3}, {{side}, {price}}}};
  const Groups groups = group_rows(parts);
  CHECK(groups.parts[1].group == Numbers{1, 0});
  CHECK(groups.parts[0].first == std::vector<std::int64_t>{0, -1});
  const std::array coarse{GroupedRows{parts[0].rows, {}}, GroupedRows{parts[1].rows, {}}};
  CHECK(coarser(groups.parts, coarse) == Numbers{0, 0});
  const TablePtr four = test::trades({{"1", "B"}, {"2", "B"}, {"3", "S"}, {"4", "B"}});
  const std::array later{GroupedRows{{four.get(), 1, 2}, {{trade_no}}},
                         GroupedRows{{four.get(), 2, 4}, {{trade_no}}}};
  const std::array sides{GroupedRows{later[0].rows, {{side}}},
                         GroupedRows{later[1].rows, {{side}}}};
  CHECK(coarser(group_rows(later).parts, sides) == Numbers{0, 1, 0});
}

TEST_CASE("sums are exact, and say which groups lack a value") {
  const GroupPart part = test::grouped(table(), {{side}}).parts[0];
  const Amounts total = sums(part, amounts_of(part.rows, trade_schema["quantity"], 0));
  CHECK(total.units == std::vector<int128>{4, 2});
  const Amounts none = sums(part, amounts_of(part.rows, trade_schema["strike_price"], 2));
  CHECK(none.known == std::vector<bool>{false, false});
  const double cents[] = {0.1, 0.2, 0.25};
  CHECK(decimals_of(cents) == 2);
  CHECK(in_units(cents, 2) == std::vector<int128>{10, 20, 25});
  CHECK_THROWS_AS(product_of(int128{1} << 100, int128{1} << 60), std::overflow_error);
  CHECK(share_of(100, 1, 3) + (share_of(100, 2, 3) - share_of(100, 1, 3)) == 67);
}

TEST_CASE("an extreme is of the known values, in a part of a table too") {
  constexpr std::int64_t unknown = test::Fill::unknown;
  const TablePtr made = test::trades(
      {{"0", "B", 9}, {"1", "B", unknown}, {"2", "B", 5}, {"3", "B", 3}, {"4", "S", unknown}});
  const std::array part{GroupedRows{{made.get(), 1, 5}, {{side}}}};
  const Groups groups = group_rows(part);
  CHECK(extreme_rows(groups.parts[0], time_of_trade, true) == std::vector<std::int64_t>{1, -1});
  CHECK(extreme_rows(groups.parts[0], time_of_trade, false) == std::vector<std::int64_t>{2, -1});
}

TEST_CASE("likenesses and extremes are found group by group") {
  const GroupPart part = test::grouped(table(), {{side}}).parts[0];
  CHECK(likenesses(part, trade_no) == std::vector<std::uint8_t>{1, 1});
  CHECK(likenesses(part, time_of_trade) == std::vector<std::uint8_t>{5, 1});
  CHECK(likenesses(part, trade_schema["settlor"]) == std::vector<std::uint8_t>{2, 2});
  CHECK(extreme_rows(part, time_of_trade, true) == std::vector<std::int64_t>{2, 1});
  CHECK(extreme_rows(part, time_of_trade, false) == std::vector<std::int64_t>{0, 1});
}
