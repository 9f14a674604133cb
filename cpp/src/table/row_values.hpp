// Values of rows, compared by content, whichever table they belong to.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table/table.hpp"

namespace tradingdata {

namespace detail {

inline bool same_value(const Table& a, std::int64_t row_a, const Table& b, std::int64_t row_b,
                       int field) {
  const bool valid = a.valid(field, row_a);
  if (valid != b.valid(field, row_b)) return false;
  if (!valid) return true;
  const Kind kind = a.schema().field(field).kind;
  switch (kind) {
    case Kind::text: {
      const TextView& x = a.column(field).as<TextView>()[row_a];
      const TextView& y = b.column(field).as<TextView>()[row_b];
      // The size and the first bytes distinguish most texts, and all short ones.
      if (x.is_inline()) return std::memcmp(&x, &y, sizeof x) == 0;
      return x.size == y.size && a.text(x) == b.text(y);
    }
    case Kind::number:
      return a.column(field).as<double>()[row_a] == b.column(field).as<double>()[row_b];
    default: {
      const std::int64_t width = width_of(kind);
      return std::memcmp(a.column(field).values + row_a * width,
                         b.column(field).values + row_b * width,
                         static_cast<std::size_t>(width)) == 0;
    }
  }
}

// The unknown fields of a row with their JSON text, by name: the order in which they were sent is
// ignored.
std::vector<std::pair<std::string_view, std::string_view>> sorted_extras(const Table& table,
                                                                         std::int64_t row);

}  // namespace detail

// Whether two slices hold the same values in every field of their rows, unknown ones included (as
// sent).
bool same_rows(const Slice& a, const Slice& b);
inline bool same_row(const Table& a, std::int64_t row_a, const Table& b, std::int64_t row_b) {
  return same_rows({&a, row_a, row_a + 1}, {&b, row_b, row_b + 1});
}

// Appends bytes that are equal for equal rows of any two tables of a schema, and for no others.
void append_row(std::string& bytes, const Table& table, std::int64_t row);

}  // namespace tradingdata
