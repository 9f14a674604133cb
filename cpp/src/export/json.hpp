// Rows as JSON: in the service's form, which is saved, pickled and archived, for other programs,
// and the unknown fields of a row as one column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "table/row_selection.hpp"
#include "table/table.hpp"

namespace tradingdata {

// One record as a JSON object as the service sends it: every field by its wire name, then unknown
// ones as sent.
std::string row_as_json(const Table& table, std::int64_t row);

// A run of rows as a JSON array, which the decoder reads back to equal rows (`written`).
std::string rows_as_json(const Table& table, std::int64_t start, std::int64_t stop);

struct JsonOptions {
  std::int64_t start = 0;  // rows [start, start + length)
  std::int64_t length = 0;
  std::vector<int> fields{};  // positions, in the order of the keys
  bool extras = false;        // whether a row's unknown fields follow, as sent
  bool lines = false;         // one object per line, without an array around them
  bool restorable = false;    // local fields have a prefix, as the decoder reads them back
  // It follows each time where it is set.
  ZoneOffset offset{};
};

// An array with one record per line, or newline-delimited JSON.
std::string export_json(const Table& table, const JsonOptions& options);

// A copy of the rows in a schema that has one more field than theirs: the unknown fields of a row
// as the text of a JSON object, their values as sent. A row without unknown fields has none. Each
// export then has the same columns, whatever a service adds, and table_from_arrow reads the fields
// back.
TablePtr with_extra_column(const Slice& rows, const Schema& wider);

}  // namespace tradingdata
