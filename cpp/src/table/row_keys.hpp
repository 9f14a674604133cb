// Rows ordered by a key of several fields, so that equal keys end up side by side. Sorting takes
// n log n steps whatever the keys are; a hash table takes n * n when a service chooses them badly.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "table/table.hpp"

namespace tradingdata::detail {

struct RowKey {
  std::uint64_t tail;  // the last bytes of the key's first text, which differ most
  std::int64_t row;
};

// Compares the keys of two rows. The fields hold text or numbers, the first one text.
std::partial_ordering compare_keys(const Table& a, const RowKey& key_a, const Table& b,
                                   const RowKey& key_b, std::span<const int> fields);

// Rows by key; those of equal keys in the order of the table.
std::vector<RowKey> sorted_by_key(const Table& table, std::span<const std::int64_t> rows,
                                  std::span<const int> fields);

}  // namespace tradingdata::detail
