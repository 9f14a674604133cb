// The columns of an Arrow table that a record does not have, as unknown fields with JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/arrow_input.hpp"
#include "table/table.hpp"

namespace tradingdata::detail {

// Throws std::invalid_argument, which names the column, where a text is not UTF-8.
void check_utf8(std::string_view column, std::string_view text);

class ArrowExtras {
 public:
  ArrowExtras(TableBuilder& table, bool mask) : table_(table), mask_(mask) {}

  // A column that the schema does not have: each value that is not null, as JSON.
  void add_column(const std::string& name, const ArrayReader& values, std::int64_t first);
  // The column of JSON objects. Fields that the schema has are left out. Throws
  // std::invalid_argument where a text is no JSON object.
  void add_objects(const ArrayReader& values, std::int64_t first);

  // Adds them to the table, row by row; of two with one name in a row, the last.
  void finish();

 private:
  void add(std::int64_t row, std::int32_t name, std::string_view json);
  void add_object(std::int64_t row, std::string_view text);

  TableBuilder& table_;
  bool mask_;
  std::vector<Extra> extras_;
  Buffer object_;
};

}  // namespace tradingdata::detail
