// Rows that repeat an earlier row.
#pragma once

#include <cstdint>
#include <span>

#include "table/table.hpp"

namespace tradingdata::detail {

// Whether two rows have the same text in a field.
bool same_text(const Table& table, int field, std::int64_t a, std::int64_t b);

struct Repeats {
  std::int64_t count = 0;
  std::int64_t first = -1;  // the first row that is one
};

// The rows whose key, made of text fields, an earlier row has too. Rows without a value in the
// key's first field are left out.
Repeats repeats_of(const Table& table, std::span<const int> key);

}  // namespace tradingdata::detail
