// Hashes the keys first and sorts only the rows whose hashes are equal. A hash table alone would
// be quadratic for keys that a service chose badly.
#include "table/duplicate_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <string_view>

#include "table/row_keys.hpp"

namespace tradingdata::detail {

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

  std::vector<std::int64_t> rows;
  each_row([&](std::int64_t row, std::size_t place) {
    if (twice[place]) rows.push_back(row);
  });
  const std::vector<RowKey> keys = sorted_by_key(table, rows, key_);
  Repeats repeats;
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (compare_keys(table, keys[i - 1], table, keys[i], key_) != 0) continue;
    const std::int64_t row = keys[i].row;
    repeats.first = repeats.count++ == 0 ? row : std::min(repeats.first, row);
  }
  return repeats;
}

}  // namespace tradingdata::detail
