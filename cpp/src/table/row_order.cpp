// Sorts row numbers by one field after the other, from the last to the first.
#include "table/row_order.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <ranges>

namespace tradingdata {

namespace {

// The values are stored beside their rows, since looking each up in its column would be slow.
template <typename Read>
void sort_by(std::vector<std::int64_t>& rows, const Column& column, bool descending,
             const Read& read) {
  struct Entry {
    decltype(read(0)) value;
    std::int64_t row;
  };
  std::vector<Entry> entries;
  std::vector<std::int64_t> without_value;
  entries.reserve(rows.size());
  for (const std::int64_t row : rows) {
    if (column.valid(row)) {
      entries.push_back({read(row), row});
    } else {
      without_value.push_back(row);
    }
  }
  if (descending) {
    std::ranges::stable_sort(entries, std::greater<>(), &Entry::value);
  } else {
    std::ranges::stable_sort(entries, std::less<>(), &Entry::value);
  }
  const auto rest = std::ranges::transform(entries, rows.begin(), &Entry::row).out;
  std::ranges::copy(without_value, rest);
}

template <typename Stored>
void sort_by_stored(std::vector<std::int64_t>& rows, const Column& column, bool descending) {
  sort_by(rows, column, descending,
          [values = column.as<Stored>()](std::int64_t row) { return values[row]; });
}

}  // namespace

std::vector<std::int64_t> sorted_rows(const Table& table, std::int64_t start, std::int64_t stop,
                                      std::span<const SortKey> keys) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(stop - start));
  std::iota(rows.begin(), rows.end(), start);
  // The sort is stable, so the last key is applied first.
  for (auto next = keys.rbegin(); next != keys.rend(); ++next) {
    const SortKey& key = *next;
    const Column& column = table.column(key.field);
    switch (table.schema().field(key.field).kind) {
      case Kind::text:
        sort_by(rows, column, key.descending,
                [&](std::int64_t row) { return table.text(key.field, row); });
        break;
      case Kind::number: sort_by_stored<double>(rows, column, key.descending); break;
      case Kind::date: sort_by_stored<std::int32_t>(rows, column, key.descending); break;
      default: sort_by_stored<std::int64_t>(rows, column, key.descending);
    }
  }
  return rows;
}

}  // namespace tradingdata
