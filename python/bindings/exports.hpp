// What everything that leaves a table agrees on: rows [start, stop), and columns by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "table/table.hpp"

namespace tradingdata::python {

using Names = std::vector<std::string>;

// Throws IndexError where the rows are not the table's.
void check_rows(const Table& table, std::int64_t start, std::int64_t stop);

// A field's position; throws KeyError where the record has no such field.
int field_named(const Table& table, const std::string& name);

// Positions of fields, then of unknown fields, which are counted on behind the schema's.
std::vector<int> columns_named(const Table& table, const Names& fields, const Names& extra);

// The name that such a position stands for.
std::string_view column_name(const Table& table, int column);

}  // namespace tradingdata::python
