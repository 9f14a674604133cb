// Compares keys by their tails first: numbers of orders and trades differ in their last digits.
#include "table/row_keys.hpp"

#include <algorithm>
#include <string_view>

namespace tradingdata::detail {

namespace {

std::uint64_t tail_of(std::string_view text) {
  std::uint64_t tail = 0;
  for (const char c : text.substr(text.size() - std::min(text.size(), sizeof tail))) {
    tail = tail << 8 | static_cast<unsigned char>(c);
  }
  return tail;
}

std::partial_ordering compare_values(const Table& a, std::int64_t row_a, const Table& b,
                                     std::int64_t row_b, int field) {
  const bool valid = a.valid(field, row_a);
  if (!valid || !b.valid(field, row_b)) return valid <=> b.valid(field, row_b);
  if (a.schema().field(field).kind == Kind::text) {
    return a.text(field, row_a) <=> b.text(field, row_b);
  }
  return a.column(field).as<double>()[row_a] <=> b.column(field).as<double>()[row_b];
}

}  // namespace

std::partial_ordering compare_keys(const Table& a, const RowKey& key_a, const Table& b,
                                   const RowKey& key_b, std::span<const int> fields) {
  std::partial_ordering order = key_a.tail <=> key_b.tail;
  for (std::size_t i = 0; i < fields.size() && order == 0; ++i) {
    order = compare_values(a, key_a.row, b, key_b.row, fields[i]);
  }
  return order;
}

std::vector<RowKey> sorted_by_key(const Table& table, std::span<const std::int64_t> rows,
                                  std::span<const int> fields) {
  std::vector<RowKey> keys;
  keys.reserve(rows.size());
  for (const std::int64_t row : rows) keys.push_back({tail_of(table.text(fields[0], row)), row});
  std::sort(keys.begin(), keys.end(), [&](const RowKey& a, const RowKey& b) {
    if (a.tail != b.tail) return a.tail < b.tail;
    const auto order = compare_keys(table, a, table, b, fields);
    return order != 0 ? order < 0 : a.row < b.row;
  });
  return keys;
}

}  // namespace tradingdata::detail
