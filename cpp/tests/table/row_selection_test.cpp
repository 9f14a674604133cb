// Rows of very many unknown fields, and masked tables; all else is proved in Python.
#include "table/row_selection.hpp"

#include <doctest/doctest.h>

#include <array>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/whole_body.hpp"
#include "table/records.hpp"
#include "table/row_values.hpp"

using namespace tradingdata;

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
