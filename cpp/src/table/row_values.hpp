// Values of rows, compared by content, whichever table they belong to.
#pragma once

#include <cstdint>
#include <string>

#include "table/table.hpp"

namespace tradingdata {

// Whether two slices hold the same values in every field of their rows, unknown ones included (as
// sent).
bool same_rows(const Slice& a, const Slice& b);
inline bool same_row(const Table& a, std::int64_t row_a, const Table& b, std::int64_t row_b) {
  return same_rows({&a, row_a, row_a + 1}, {&b, row_b, row_b + 1});
}

// Appends bytes that are equal for equal rows of any two tables of a schema, and for no others.
void append_row(std::string& bytes, const Table& table, std::int64_t row);

}  // namespace tradingdata
