// Decides by size: a small selection that shared its columns would keep a large table and its
// body alive.
#include "export/arrow_sharing.hpp"

#include <limits>

namespace tradingdata::detail {

namespace {

// A complete book uses about a third of its memory: the rest is keys and other text of its body.
constexpr std::int64_t most_held_for_a_byte_used = 4;

std::int64_t bytes_held(const Table& table) {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : table.buffers()) bytes += buffer.size();
  for (const Field& field : table.schema().fields) bytes += width_of(field.kind) * table.capacity();
  return bytes;
}

// The part of a field's column that would be shared; its long text is in the table's buffers.
struct Use {
  std::int64_t values = 0;
  std::int64_t long_text = 0;
};

Use use_of(const Table& table, const ArrowColumn& column, const ArrowExport& wanted) {
  if (column.column >= table.schema().width()) return {};
  const Kind kind = table.schema().field(column.column).kind;
  if (kind == Kind::timestamp && wanted.to_utc) return {};
  if (kind != Kind::text) return {.values = wanted.length * width_of(kind)};
  if (column.text != TextForm::view) return {};
  Use use{.values = wanted.length * width_of(kind)};
  const auto* const views = table.column(column.column).as<TextView>() + wanted.start;
  for (std::int64_t row = 0; row < wanted.length; ++row) {
    if (!views[row].is_inline()) use.long_text += views[row].size;
  }
  return use;
}

}  // namespace

bool worth_sharing(const Table& table, const ArrowExport& wanted) {
  constexpr std::int64_t most_in_a_copy = std::numeric_limits<std::int32_t>::max();
  const bool few_rows = wanted.length * 2 < table.rows();
  const std::int64_t held = bytes_held(table);
  std::int64_t used = 0;
  for (const ArrowColumn& column : wanted.columns) {
    const Use use = use_of(table, column, wanted);
    if (use.long_text > most_in_a_copy) return true;  // views reach no further into one buffer
    used += use.values + use.long_text;
    if (!few_rows && used * most_held_for_a_byte_used >= held) return true;
  }
  return false;
}

}  // namespace tradingdata::detail
