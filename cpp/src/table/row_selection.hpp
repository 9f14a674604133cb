// Rows chosen from tables, compared and hashed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "table/table.hpp"

namespace tradingdata {

// A run of rows of one table.
struct Slice {
  const Table* table;
  std::int64_t start;
  std::int64_t stop;
};

// A new table of the given rows, in the given order, which owns its storage.
std::shared_ptr<Table> gather(const Table& table, std::span<const std::int64_t> rows);

// One table of all the slices' rows, in order. They must be of one schema, and there must be one.
std::shared_ptr<Table> concat(std::span<const Slice> slices);

// Whether two rows hold the same values in every field, unknown ones included (as sent).
bool same_row(const Table& a, std::int64_t row_a, const Table& b, std::int64_t row_b);

// Equal rows of any two tables have equal hashes.
std::uint64_t hash_row(const Table& table, std::int64_t row);

}  // namespace tradingdata
