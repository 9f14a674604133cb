// Rows as JSON: in the service's form, which is saved, pickled and archived, for other programs,
// and the unknown fields of a row as one column.
#pragma once

#include <cstdint>
#include <string>

#include "table/table.hpp"

namespace tradingdata {

// One record as a JSON object as the service sends it: every field by its wire name, then unknown
// ones as sent.
std::string row_as_json(const Table& table, std::int64_t row);

// Rows as a JSON array, which the decoder reads back to equal rows (`written`): local fields have a
// prefix.
std::string rows_as_json(const Slice& rows);

// An array with one record per line; or with `lines` newline-delimited JSON, without an array.
// `extras`: whether a row's unknown fields follow, as sent.
std::string export_json(const Rows& rows, bool extras, bool lines);

// A copy of the rows in a schema that has one more field than theirs: the unknown fields of a row
// as the text of a JSON object, their values as sent. A row without unknown fields has none. Each
// export then has the same columns, whatever a service adds, and table_from_arrow reads the fields
// back.
TablePtr with_extra_column(const Slice& rows, const Schema& wider);

}  // namespace tradingdata
