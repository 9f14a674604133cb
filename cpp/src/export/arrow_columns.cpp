// Buffers of a column: shared with the table where layout and offset allow it, copied otherwise.
#include "export/arrow_columns.hpp"

#include <cstring>
#include <limits>
#include <string_view>

#include "base/error.hpp"

namespace tradingdata::detail {

namespace {

constexpr std::int64_t word_bits = 64;

std::size_t size_of(std::int64_t bytes) {
  return static_cast<std::size_t>(bytes);
}

std::int64_t words_of(std::int64_t bits) {
  return (bits + word_bits - 1) / word_bits;
}

std::int64_t nulls_of(const ColumnSlice& slice) {
  if (slice.validity == nullptr) return 0;
  std::int64_t set = 0;
  for (std::int64_t row = 0; row < slice.length; ++row) set += slice.valid(row) ? 1 : 0;
  return slice.length - set;
}

// The run's bits moved to the start of a bitmap of their own.
SharedBlock aligned_bitmap(const ColumnSlice& slice) {
  const std::int64_t words = words_of(slice.length);
  SharedBlock block = slice.memory.take(words * 8);
  auto* const out = reinterpret_cast<std::uint64_t*>(block.get());
  const std::uint64_t* const in = slice.validity + slice.first / word_bits;
  const std::int64_t shift = slice.first % word_bits;
  const std::int64_t readable = words_of(shift + slice.length);
  for (std::int64_t i = 0; i < words; ++i) {
    out[i] = in[i] >> shift;
    if (shift > 0 && i + 1 < readable) out[i] |= in[i + 1] << (word_bits - shift);
  }
  return block;
}

const void* keep(Buffers& buffers, SharedBlock block) {
  buffers.blocks.push_back(std::move(block));
  return buffers.blocks.back().get();
}

void add_validity(Buffers& buffers, const ColumnSlice& slice, bool share) {
  buffers.nulls = nulls_of(slice);
  if (buffers.nulls == 0) {
    buffers.pointers.push_back(nullptr);
  } else if (share && slice.first % 8 == 0) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(slice.validity);
    buffers.pointers.push_back(bytes + slice.first / 8);
  } else {
    buffers.pointers.push_back(keep(buffers, aligned_bitmap(slice)));
  }
}

void add_copy(Buffers& buffers, Arena& memory, const void* values, std::int64_t bytes) {
  SharedBlock block = memory.take(bytes);
  if (bytes > 0) std::memcpy(block.get(), values, size_of(bytes));
  buffers.pointers.push_back(keep(buffers, std::move(block)));
}

// Some consumers refuse a missing buffer even where there are no rows.
const void* present(const void* values) {
  alignas(64) static constexpr std::byte nothing[64] = {};
  return values == nullptr ? nothing : values;
}

std::int64_t text_bytes(const ColumnSlice& slice) {
  const auto* const views = slice.as<TextView>();
  std::int64_t total = 0;
  for (std::int64_t row = 0; row < slice.length; ++row) total += views[row].size;
  return total;
}

}  // namespace

Buffers shared_values(const ColumnSlice& slice) {
  Buffers buffers;
  buffers.in_table = true;
  add_validity(buffers, slice, true);
  buffers.pointers.push_back(present(slice.values));
  return buffers;
}

Buffers copied_values(const ColumnSlice& slice) {
  Buffers buffers;
  add_validity(buffers, slice, false);
  add_copy(buffers, slice.memory, slice.values, slice.length * width_of(slice.kind));
  return buffers;
}

Buffers instants(const ColumnSlice& slice, const ZoneOffset& offset) {
  Buffers buffers = copied_values(slice);
  auto* const micros = reinterpret_cast<std::int64_t*>(buffers.blocks.back().get());
  for (std::int64_t row = 0; row < slice.length; ++row) {
    if (slice.valid(row)) micros[row] -= offset(micros[row]);
  }
  return buffers;
}

Buffers shared_views(const ColumnSlice& slice) {
  Buffers buffers = shared_values(slice);
  for (const Buffer& buffer : slice.table.buffers()) {
    buffers.pointers.push_back(present(buffer.data()));
    buffers.variadic_sizes.push_back(buffer.size());
  }
  buffers.pointers.push_back(present(buffers.variadic_sizes.data()));
  return buffers;
}

Buffers copied_views(const ColumnSlice& slice) {
  Buffers buffers = copied_values(slice);
  auto* const views = reinterpret_cast<TextView*>(buffers.blocks.back().get());
  std::int64_t bytes = 0;
  for (std::int64_t row = 0; row < slice.length; ++row) {
    if (!views[row].is_inline()) bytes += views[row].size;
  }
  if (bytes == 0) {
    buffers.pointers.push_back(present(nullptr));
    return buffers;
  }
  SharedBlock block = slice.memory.take(bytes);
  std::int64_t offset = 0;
  for (std::int64_t row = 0; row < slice.length; ++row) {
    if (views[row].is_inline()) continue;
    const std::string_view text = slice.text(row);
    std::memcpy(block.get() + offset, text.data(), text.size());
    views[row] = TextView::make_place(text, 0, offset);
    offset += views[row].size;
  }
  buffers.pointers.push_back(keep(buffers, std::move(block)));
  buffers.variadic_sizes.push_back(bytes);
  buffers.pointers.push_back(buffers.variadic_sizes.data());
  return buffers;
}

template <typename Offset>
Buffers offset_text(const ColumnSlice& slice) {
  const std::int64_t bytes = text_bytes(slice);
  if (bytes > std::numeric_limits<Offset>::max()) {
    throw Error(ErrorKind::configuration, "a column's text is too long for 32-bit offsets");
  }
  Buffers buffers;
  add_validity(buffers, slice, false);
  SharedBlock offsets =
      slice.memory.take((slice.length + 1) * static_cast<std::int64_t>(sizeof(Offset)));
  // Short text is copied as 12 bytes whatever its length: the next text overwrites the rest.
  SharedBlock data = slice.memory.take(bytes + TextView::inline_capacity);
  auto* const ends = reinterpret_cast<Offset*>(offsets.get());
  const auto* const views = slice.as<TextView>();
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < slice.length; ++row) {
    ends[row] = static_cast<Offset>(at);
    const TextView& view = views[row];
    if (view.is_inline()) {
      std::memcpy(data.get() + at, view.inlined, TextView::inline_capacity);
    } else {
      const std::string_view text = slice.table.text(view);
      std::memcpy(data.get() + at, text.data(), text.size());
    }
    at += view.size;
  }
  ends[slice.length] = static_cast<Offset>(at);
  buffers.pointers.push_back(keep(buffers, std::move(offsets)));
  buffers.pointers.push_back(keep(buffers, std::move(data)));
  return buffers;
}

template Buffers offset_text<std::int32_t>(const ColumnSlice& slice);
template Buffers offset_text<std::int64_t>(const ColumnSlice& slice);

}  // namespace tradingdata::detail
