// Hashes the keys first and sorts only the rows whose hashes are equal. A hash table alone would
// be quadratic for keys that a service chose badly. Keys are compared by their tails first: numbers
// of orders and trades differ in their last digits.
#include "table/duplicate_rows.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <cstring>
#include <functional>
#include <string_view>

namespace tradingdata::detail {

namespace {

struct RowKey {
  std::uint64_t tail;  // the last bytes of the key's first text
  std::int64_t row;
};

std::uint64_t tail_of(std::string_view text) {
  std::uint64_t tail = 0;
  for (const char c : text.substr(text.size() - std::min(text.size(), sizeof tail))) {
    tail = tail << 8 | static_cast<unsigned char>(c);
  }
  return tail;
}

std::partial_ordering compare(const Table& table, std::int64_t a, std::int64_t b, int field) {
  const bool valid = table.valid(field, a);
  if (!valid || !table.valid(field, b)) return valid <=> table.valid(field, b);
  if (table.schema().field(field).kind == Kind::text) {
    return table.text(field, a) <=> table.text(field, b);
  }
  const auto* const values = table.column(field).as<double>();
  return values[a] <=> values[b];
}

// By the values of the fields, which are text or numbers, the first one text.
std::partial_ordering compare(const Table& table, const RowKey& a, const RowKey& b,
                              std::span<const int> fields) {
  std::partial_ordering order = a.tail <=> b.tail;
  for (std::size_t i = 0; i < fields.size() && order == 0; ++i) {
    order = compare(table, a.row, b.row, fields[i]);
  }
  return order;
}

}  // namespace

bool same_text(const Table& table, int field, std::int64_t a, std::int64_t b) {
  const auto* const views = table.column(field).as<TextView>();
  if (std::memcmp(&views[a], &views[b], sizeof *views) == 0) return true;
  return !views[a].is_inline() && table.text(views[a]) == table.text(views[b]);
}

void RepeatSearch::see(const Table& table, std::int64_t rows) {
  hashes_.reserve(static_cast<std::size_t>(table.capacity()));
  for (auto row = static_cast<std::int64_t>(hashes_.size()); row < rows; ++row) {
    const bool valid = table.valid(key_[0], row);
    hashes_.push_back(valid ? std::hash<std::string_view>{}(table.text(key_[0], row)) : 0);
  }
}

// Hashing only selects the rows to sort: a few in a thousand, or all of them where a service sends
// texts with equal hashes.
Repeats RepeatSearch::repeats(const Table& table) const {
  const std::size_t bits = std::bit_ceil(hashes_.size() + 1) * 32;
  std::vector<bool> once(bits);
  std::vector<bool> twice(bits);
  bool repeated = false;
  const auto each_row = [&](const auto& visit) {
    for (std::int64_t row = 0; row < table.rows(); ++row) {
      if (!table.valid(key_[0], row)) continue;
      visit(row, hashes_[static_cast<std::size_t>(row)] & (bits - 1));
    }
  };
  each_row([&](std::int64_t, std::size_t place) {
    if (once[place]) twice[place] = repeated = true;
    once[place] = true;
  });
  if (!repeated) return {};

  std::vector<RowKey> keys;
  each_row([&](std::int64_t row, std::size_t place) {
    if (twice[place]) keys.push_back({tail_of(table.text(key_[0], row)), row});
  });
  std::sort(keys.begin(), keys.end(), [&](const RowKey& a, const RowKey& b) {
    const auto order = compare(table, a, b, key_);
    return order != 0 ? order < 0 : a.row < b.row;
  });
  Repeats repeats;
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (compare(table, keys[i - 1], keys[i], key_) != 0) continue;
    const std::int64_t row = keys[i].row;
    repeats.first = repeats.count++ == 0 ? row : std::min(repeats.first, row);
  }
  return repeats;
}

}  // namespace tradingdata::detail
