#include "table/table.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "base/memory_pool.hpp"

namespace tradingdata {

namespace {

constexpr std::int64_t line = 64;
// Large columns whose starts differ by a multiple of a page would share a few cache sets.
std::int64_t stagger(std::int64_t rows) {
  return rows < 256 ? 0 : 3 * line;
}
constexpr std::int64_t greatest_buffer = std::numeric_limits<std::int32_t>::max();

std::int64_t rounded(std::int64_t bytes) {
  return (bytes + line - 1) / line * line;
}
std::int64_t bitmap_bytes(std::int64_t rows) {
  return rounded((rows + 7) / 8);
}

}  // namespace

Table::Table(const Schema& schema)
    : schema_(&schema),
      columns_(static_cast<std::size_t>(schema.width())),
      known_extras_(ByName{&extra_names}) {}

Table::~Table() {
  free_block(arena_);
}

std::int64_t Table::bytes_for(std::int64_t rows) const {
  std::int64_t bytes = 0;
  for (const Field& field : schema_->fields) {
    bytes += rounded(rows * width_of(field.kind)) + bitmap_bytes(rows) + stagger(rows);
  }
  return bytes;
}

void Table::reserve(std::int64_t rows) {
  if (rows <= capacity_) return;
  auto* const arena = static_cast<std::byte*>(allocate_block(bytes_for(rows)));
  std::byte* at = arena;
  for (int i = 0; i < schema_->width(); ++i) {
    Column& filled = column(i);
    const std::int64_t width = width_of(schema_->fields[static_cast<std::size_t>(i)].kind);
    Column grown{.values = at, .validity = nullptr, .nulls = filled.nulls};
    at += rounded(rows * width);
    grown.validity = reinterpret_cast<std::uint64_t*>(at);
    std::memset(at, 0xFF, static_cast<std::size_t>(bitmap_bytes(rows)));
    at += bitmap_bytes(rows) + stagger(rows);
    if (rows_ > 0) {
      std::memcpy(grown.values, filled.values, static_cast<std::size_t>(rows_ * width));
      std::memcpy(grown.validity, filled.validity, static_cast<std::size_t>((rows_ + 63) / 64 * 8));
    }
    filled = grown;
  }
  free_block(arena_);
  arena_ = arena;
  capacity_ = rows;
}

void Table::set_null(int field, std::int64_t row) {
  Column& column = this->column(field);
  std::uint64_t& word = column.validity[row / 64];
  const std::uint64_t bit = std::uint64_t{1} << (row % 64);
  if ((word & bit) == 0) return;
  word &= ~bit;
  ++column.nulls;
  const auto width =
      static_cast<std::size_t>(width_of(schema_->fields[static_cast<std::size_t>(field)].kind));
  std::memset(column.values + row * static_cast<std::int64_t>(width), 0, width);
}

std::string_view Table::text(const TextView& view) const {
  const auto size = static_cast<std::size_t>(view.size);
  if (view.is_inline()) return {view.inlined, size};
  return {buffers[static_cast<std::size_t>(view.place.buffer)].data() + view.place.offset, size};
}

std::string_view Table::extra_json(const Extra& extra) const {
  return {buffers[static_cast<std::size_t>(extra.buffer)].data() + extra.offset,
          static_cast<std::size_t>(extra.size)};
}

std::pair<std::int64_t, std::int64_t> Table::extras_of(std::int64_t row) const {
  const auto before = [](const Extra& extra, std::int64_t wanted) { return extra.row < wanted; };
  const auto begin = std::lower_bound(extras.begin(), extras.end(), row, before);
  const auto end = std::lower_bound(begin, extras.end(), row + 1, before);
  return {begin - extras.begin(), end - extras.begin()};
}

std::pair<std::int32_t, std::int32_t> Table::keep_bytes(std::string_view bytes) {
  const std::size_t first_own = holds_body ? 1 : 0;
  // Views count bytes in 32 bits: a larger size would wrap around.
  if (bytes.size() > static_cast<std::size_t>(greatest_buffer)) {
    throw std::length_error("a text of 2 GiB or more does not fit into a column");
  }
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (buffers.size() == first_own || buffers.back().size() + size > greatest_buffer) {
    buffers.emplace_back();
  }
  Buffer& side = buffers.back();
  const std::int64_t offset = side.size();
  side.append(bytes);
  return {static_cast<std::int32_t>(buffers.size() - 1), static_cast<std::int32_t>(offset)};
}

TextView Table::keep_text(std::string_view text) {
  if (text.size() <= static_cast<std::size_t>(TextView::inline_capacity)) {
    return TextView::make_inline(text);
  }
  const auto [buffer, offset] = keep_bytes(text);
  return TextView::make_place(text, buffer, offset);
}

std::int32_t Table::extra_name(std::string_view name) {
  // Names that came by another way than this one are not known yet.
  for (std::size_t i = known_extras_.size(); i < extra_names.size(); ++i) {
    known_extras_.insert(static_cast<std::int32_t>(i));
  }
  if (const auto found = known_extras_.find(name); found != known_extras_.end()) return *found;
  const auto position = static_cast<std::int32_t>(extra_names.size());
  extra_names.emplace_back(name);
  known_extras_.insert(position);
  return position;
}

}  // namespace tradingdata
