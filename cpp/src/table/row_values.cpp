// Compares values and writes them as bytes.
#include "table/row_values.hpp"

#include <algorithm>

namespace tradingdata {

namespace detail {

namespace {

void append_text(std::string& bytes, std::string_view text) {
  const std::uint64_t size = text.size();  // first, so that neighbours cannot run together
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes.append(text);
}

// Appends bytes that are equal where the values are.
void append_value(std::string& bytes, const Table& table, int field, std::int64_t row) {
  const bool valid = table.valid(field, row);
  bytes += valid ? '\1' : '\0';
  if (!valid) return;
  const Kind kind = table.schema().field(field).kind;
  if (kind == Kind::text) return append_text(bytes, table.text(field, row));
  const std::byte* value = table.column(field).values + row * width_of(kind);
  constexpr double zero = 0;
  if (kind == Kind::number && table.column(field).as<double>()[row] == zero) {
    value = reinterpret_cast<const std::byte*>(&zero);  // -0 equals 0
  }
  bytes.append(reinterpret_cast<const char*>(value), static_cast<std::size_t>(width_of(kind)));
}

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> sorted_extras(const Table& table,
                                                                         std::int64_t row) {
  std::vector<std::pair<std::string_view, std::string_view>> extras;
  for (const Extra& extra : table.extras_of(row)) {
    extras.emplace_back(table.extra_name(extra), table.extra_json(extra));
  }
  std::sort(extras.begin(), extras.end());
  return extras;
}

}  // namespace detail

void append_row(std::string& bytes, const Table& table, std::int64_t row) {
  for (int field = 0; field < table.schema().width(); ++field) {
    detail::append_value(bytes, table, field, row);
  }
  for (const auto& [name, json] : detail::sorted_extras(table, row)) {
    detail::append_text(bytes, name);
    detail::append_text(bytes, json);
  }
}
// Field by field, a few rows at a time, so that the long text of these rows stays in the cache.
bool same_rows(const Slice& a, const Slice& b) {
  constexpr std::int64_t at_a_time = 128;
  const std::int64_t rows = a.stop - a.start;
  const Schema& schema = a.table->schema();
  if (rows != b.stop - b.start || &schema != &b.table->schema()) return false;
  for (std::int64_t done = 0; done < rows; done += at_a_time) {
    const std::int64_t end = std::min(rows, done + at_a_time);
    for (int field = 0; field < schema.width(); ++field) {
      for (std::int64_t i = done; i < end; ++i) {
        if (!detail::same_value(*a.table, a.start + i, *b.table, b.start + i, field)) return false;
      }
    }
  }
  if (a.table->extras().empty() && b.table->extras().empty()) return true;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (detail::sorted_extras(*a.table, a.start + i) !=
        detail::sorted_extras(*b.table, b.start + i)) {
      return false;
    }
  }
  return true;
}

}  // namespace tradingdata
