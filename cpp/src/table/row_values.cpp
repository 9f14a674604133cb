// Writes values as bytes with their lengths, so that no two different rows give the same bytes.
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

}  // namespace tradingdata
