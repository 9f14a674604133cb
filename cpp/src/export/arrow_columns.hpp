// One column of a table as the buffers of an Arrow array.
#pragma once

#include "base/memory.hpp"
#include "export/arrow.hpp"
#include "table/row_values.hpp"

namespace tradingdata::detail {

// A run of rows of a column: a field's, or one made for an unknown field.
struct ColumnSlice {
  const Table& table;
  Arena& memory;                  // for copies
  const std::byte* values;        // of the first row
  const std::uint64_t* validity;  // of row 0 of its bitmap; nullptr: every row has a value
  std::int64_t first;             // this run's first row in the bitmap
  std::int64_t length;
  Kind kind;

  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(values);
  }
  bool valid(std::int64_t row) const {
    const std::int64_t bit = first + row;
    return validity == nullptr || (validity[bit / 64] >> (bit % 64) & 1) != 0;
  }
  std::string_view text(std::int64_t row) const { return table.text(as<TextView>()[row]); }
};

// An array's buffers, and the memory they are in.
struct Buffers {
  std::vector<const void*> pointers;
  std::vector<std::int64_t> variadic_sizes;
  std::vector<SharedBlock> blocks;
  std::int64_t nulls = 0;
  bool in_table = false;  // some are in the table, which must be kept alive
};

Buffers shared_values(const ColumnSlice& slice);
Buffers copied_values(const ColumnSlice& slice);
Buffers instants(const ColumnSlice& slice, const ZoneOffset& offset);
Buffers shared_views(const ColumnSlice& slice);
Buffers copied_views(const ColumnSlice& slice);
template <typename Offset>
Buffers offset_text(const ColumnSlice& slice);

}  // namespace tradingdata::detail
