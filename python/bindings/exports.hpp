// The columns that an export names.
#pragma once

#include <string>
#include <vector>

#include "table/table.hpp"

namespace tradingdata::python {

using Names = std::vector<std::string>;

// A field's position; throws KeyError where the record has no such field.
int field_named(const Table& table, const std::string& name);

// Positions of fields, then of unknown fields, which are numbered after the schema's.
std::vector<int> columns_named(const Table& table, const Names& fields, const Names& extra);

}  // namespace tradingdata::python
