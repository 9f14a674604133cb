// A text column as codes into its distinct texts.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "table/table.hpp"

namespace tradingdata {

struct Categories {
  std::vector<std::int32_t> codes;       // by row; -1: no value
  std::vector<std::string_view> values;  // sorted; they lie in the table
};

// Of the rows [start, start + length) of a text field.
Categories categories_of(const Table& table, int field, std::int64_t start, std::int64_t length);

}  // namespace tradingdata
