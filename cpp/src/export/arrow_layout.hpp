// The shape of an export: a name and an Arrow format for each column.
#pragma once

#include <string>
#include <vector>

#include "export/arrow.hpp"

namespace tradingdata::detail {

struct ShapeColumn {
  std::string name;
  std::string format;
  bool is_category;
};

struct Shape {
  std::string record;
  std::vector<ShapeColumn> columns;
};

Shape shape_of(const Table& table, const ArrowExport& wanted);
void write_schema(const Shape& shape, ArrowSchema& out);

}  // namespace tradingdata::detail
