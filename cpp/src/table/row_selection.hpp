// Rows chosen from tables, and compared.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "table/table.hpp"

namespace tradingdata {

class TableBuilder;

// A run of rows of one table.
struct Slice {
  const Table* table;
  std::int64_t start;
  std::int64_t stop;
};

// A new table of the given rows, in the given order, which owns its storage.
TablePtr gather(const Table& table, std::span<const std::int64_t> rows);

// The same, to be changed before it is built.
TableBuilder copy_of(const Table& table, std::span<const std::int64_t> rows);

// One table of all the slices' rows, in order. They must be of one schema, and there must be one.
TablePtr concat(std::span<const Slice> slices);

// The same of a wider schema: its first field is text, the label of the slice that a row is from,
// and the others are those of the slices.
TablePtr concat_labelled(const Schema& schema, std::span<const Slice> slices,
                         std::span<const std::string> labels);

// Whether two rows hold the same values in every field, unknown ones included (as sent).
bool same_row(const Table& a, std::int64_t row_a, const Table& b, std::int64_t row_b);

// Whether two slices of one kind of record have equal rows.
bool same_rows(const Slice& a, const Slice& b);

// Appends bytes that are equal for equal rows of any two tables of a schema, and for no others.
void append_row(std::string& bytes, const Table& table, std::int64_t row);

}  // namespace tradingdata
