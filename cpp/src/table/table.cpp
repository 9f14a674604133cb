// Access to the parts of a table that are not columns: text, unknown fields and the body.
#include "table/table.hpp"

#include <algorithm>

#include "base/memory/memory_pool.hpp"

namespace tradingdata {

Table::Table(const Schema& schema)
    : schema_(&schema), columns_(static_cast<std::size_t>(schema.width())) {}

Table::~Table() {
  free_block(arena_);
}

std::string_view Table::text(const TextView& view) const {
  const auto size = static_cast<std::size_t>(view.size);
  if (view.is_inline()) return {view.inlined, size};
  return {buffers_[static_cast<std::size_t>(view.place.buffer)].data() + view.place.offset, size};
}

std::string_view Table::extra_json(const Extra& extra) const {
  return {buffers_[static_cast<std::size_t>(extra.buffer)].data() + extra.offset,
          static_cast<std::size_t>(extra.size)};
}

std::span<const Extra> Table::extras_of(std::int64_t start, std::int64_t stop) const {
  const auto before = [](const Extra& extra, std::int64_t row) { return extra.row < row; };
  const auto begin = std::lower_bound(extras_.begin(), extras_.end(), start, before);
  return {begin, std::lower_bound(begin, extras_.end(), stop, before)};
}

std::string_view Table::column_name(int column) const {
  const int width = schema_->width();
  if (column < width) return schema_->field(column).name;
  return extra_names_[static_cast<std::size_t>(column - width)];
}

}  // namespace tradingdata
