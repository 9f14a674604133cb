// Allocates all columns of a table in one block, and gives access to what is not a column: text,
// unknown fields and the body.
#include "table/table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace tradingdata {

Table::Table(const Schema& schema)
    : schema_(shared(schema)), columns_(static_cast<std::size_t>(schema.width())) {}

Table::~Table() {
  free_block(arena_);
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

TableBuilder::TableBuilder(const Schema& schema) : table_(std::make_shared<Table>(schema)) {}

std::int64_t TableBuilder::bytes_for(std::int64_t rows) const {
  std::int64_t bytes = 0;
  for (const Field& field : table_->schema().fields) {
    bytes += rounded(rows * width_of(field.kind)) + bitmap_bytes(rows) + stagger(rows);
  }
  return bytes;
}

void TableBuilder::reserve(std::int64_t rows) {
  if (rows <= table_->capacity_) return;
  const std::int64_t filled_rows = table_->rows_;
  auto* const arena = static_cast<std::byte*>(allocate_block(bytes_for(rows)));
  std::byte* at = arena;
  for (int i = 0; i < table_->schema().width(); ++i) {
    Column& filled = column(i);
    const std::int64_t width = width_of(table_->schema().field(i).kind);
    std::byte* const values = at;
    std::byte* const validity = at + rounded(rows * width);
    std::memset(validity, 0xFF, static_cast<std::size_t>(bitmap_bytes(rows)));
    if (filled_rows > 0) {
      std::memcpy(values, filled.values, static_cast<std::size_t>(filled_rows * width));
      std::memcpy(validity, filled.validity, static_cast<std::size_t>((filled_rows + 63) / 64 * 8));
    }
    filled.values = values;
    filled.validity = reinterpret_cast<const std::uint64_t*>(validity);
    at = validity + bitmap_bytes(rows) + stagger(rows);
  }
  free_block(table_->arena_);
  table_->arena_ = arena;
  table_->capacity_ = rows;
}

void TableBuilder::set_null(int field, std::int64_t row) {
  Column& column = this->column(field);
  std::uint64_t& word = validity_word(field, row);
  const std::uint64_t bit = std::uint64_t{1} << (row % 64);
  if ((word & bit) == 0) return;
  word &= ~bit;
  ++column.nulls;
  const std::int64_t width = width_of(table_->schema().field(field).kind);
  std::memset(writable(column.values + row * width), 0, static_cast<std::size_t>(width));
}

void TableBuilder::set_nulls(int field, std::int64_t first, std::int64_t count) {
  Column& column = this->column(field);
  const std::int64_t end = first + count;
  for (std::int64_t row = first; row < end;) {
    const std::int64_t next = std::min(end, (row / 64 + 1) * 64);
    const std::uint64_t bits = ~std::uint64_t{0} >> (64 - (next - row)) << (row % 64);
    std::uint64_t& word = validity_word(field, row);
    column.nulls += std::popcount(word & bits);
    word &= ~bits;
    row = next;
  }
  const std::int64_t width = width_of(table_->schema().field(field).kind);
  if (count > 0) {
    std::memset(writable(column.values + first * width), 0,
                static_cast<std::size_t>(count * width));
  }
}

void TableBuilder::unset_null(int field, std::int64_t row) {
  Column& column = this->column(field);
  std::uint64_t& word = validity_word(field, row);
  const std::uint64_t bit = std::uint64_t{1} << (row % 64);
  if ((word & bit) == 0) --column.nulls;
  word |= bit;
}

void TableBuilder::set_all(int field, std::string_view text) {
  auto* const views = cells<TextView>(field);
  std::fill_n(views, table_->rows_, text.empty() ? TextView{} : keep_text(text));
  for (std::int64_t row = 0; row < table_->rows_; row += 64) {
    validity_word(field, row) = text.empty() ? 0 : ~std::uint64_t{0};
  }
  column(field).nulls = text.empty() ? table_->rows_ : 0;
}

void TableBuilder::hold_body(Buffer body) {
  if (body.data() == nullptr) body.reserve(0);
  table_->buffers_.push_back(std::move(body));
  table_->holds_body_ = true;
}

std::pair<std::int32_t, std::int32_t> TableBuilder::keep_bytes(std::string_view bytes) {
  std::vector<Buffer>& buffers = table_->buffers_;
  const std::size_t first_own = table_->holds_body_ ? 1 : 0;
  // Views count bytes in 32 bits: a larger size would wrap around.
  if (bytes.size() > static_cast<std::size_t>(greatest_buffer)) {
    throw std::length_error("a text of 2 GiB or more does not fit into a column");
  }
  const auto size = static_cast<std::int64_t>(bytes.size());
  constexpr std::int64_t soon_moved = 1 << 20;
  if (buffers.size() == first_own) {
    buffers.emplace_back();
  } else if (const std::int64_t room = buffers.back().capacity();
             buffers.back().size() + size > std::max(room, soon_moved)) {
    // Another buffer, since a larger one would take new pages for what this one has.
    buffers.emplace_back().reserve(std::max(size, std::min(2 * room, greatest_buffer)));
  }
  Buffer& side = buffers.back();
  const std::int64_t offset = side.size();
  side.append(bytes);
  return {static_cast<std::int32_t>(buffers.size() - 1), static_cast<std::int32_t>(offset)};
}

TextView TableBuilder::keep_text(std::string_view text) {
  if (text.size() <= static_cast<std::size_t>(TextView::inline_capacity)) {
    return TextView::make_inline(text);
  }
  const auto [buffer, offset] = keep_bytes(text);
  return TextView::make_place(text, buffer, offset);
}

std::int32_t TableBuilder::extra_name(std::string_view name) {
  if (const auto found = known_extras_.find(name); found != known_extras_.end()) {
    return found->second;
  }
  const auto position = static_cast<std::int32_t>(table_->extra_names_.size());
  table_->extra_names_.emplace_back(name);
  known_extras_.emplace(name, position);
  return position;
}

}  // namespace tradingdata
