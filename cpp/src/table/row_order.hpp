// Sorts the rows of a table by the values of some fields.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "table/table.hpp"

namespace tradingdata {

struct SortKey {
  int field;
  bool descending = false;
};

// The rows from `start` on, before `stop`, sorted by the first key, then by the second, and so on.
// Rows with equal values keep their order; rows without a value are last in either direction. Text
// is compared by code points.
std::vector<std::int64_t> sorted_rows(const Table& table, std::int64_t start, std::int64_t stop,
                                      std::span<const SortKey> keys);

}  // namespace tradingdata
