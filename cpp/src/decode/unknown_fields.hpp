// The unknown fields of rows that come from a table of another library: columns that the record
// does not have, and the members of JSON objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/arrow_arrays.hpp"
#include "decode/column_filler.hpp"
#include "table/table.hpp"

namespace tradingdata::detail {

class UnknownFields {
 public:
  // The cells of the columns must be filled before.
  UnknownFields(TableBuilder& table, bool mask, ColumnFiller& filler)
      : table_(table),
        mask_(mask),
        filler_(filler),
        of_field_(table.table().schema().fields.size()) {}

  // A column that the schema does not have: each value that is not null, as JSON.
  void add_column(const std::string& name, const ArrayReader& values, std::int64_t first);
  // The column of JSON objects. What was unknown when it was stored and is a field now fills its
  // cell, unless that has a value. Throws std::invalid_argument where a text is no JSON object.
  void add_objects(const ArrayReader& values, std::int64_t first);

  // Of a field: how many objects have it, the first row without it, and the last with it.
  struct Presence {
    std::int64_t count = 0;
    std::int64_t first_without = 0;
    std::int64_t latest = -1;
  };
  Presence presence(int field) const { return of_field_[static_cast<std::size_t>(field)]; }

  // Adds them to the table, row by row; of two with one name in a row, the last.
  void finish();

 private:
  void add(std::int64_t row, std::int32_t name, std::string_view json);
  void add_object(std::int64_t row, std::string_view text);
  void fill(int field, std::int64_t row, const Literal& value);

  TableBuilder& table_;
  bool mask_;
  ColumnFiller& filler_;
  std::vector<Extra> extras_;
  std::vector<Presence> of_field_;
  Buffer object_;
  std::string scratch_;
};

}  // namespace tradingdata::detail
