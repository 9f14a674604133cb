// Matches the equal beginnings of both books first, because a later poll mostly appends orders.
#include "table/order_keys.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "table/records.hpp"
#include "table/row_keys.hpp"
#include "table/row_values.hpp"

namespace tradingdata::detail {

namespace {

constexpr std::span<const int> order_key = order_schema.identity;

constexpr std::size_t rows_a_slice = 512;

bool same_key(const Table& a, std::int64_t row_a, const Table& b, std::int64_t row_b) {
  return std::all_of(order_key.begin(), order_key.end(),
                     [&](int field) { return same_value(a, row_a, b, row_b, field); });
}

std::size_t place(std::int64_t row, const Slice& orders) {
  return static_cast<std::size_t>(row - orders.start);
}

std::vector<RowKey> sorted(const Slice& orders) {
  std::vector<std::int64_t> rows(place(orders.stop, orders));
  std::iota(rows.begin(), rows.end(), orders.start);
  return sorted_by_key(*orders.table, rows, order_key);
}

}  // namespace

// Most orders are where they were; only the others are sorted.
OrderMatch match_orders(const Slice& orders, const Slice& previous,
                        const std::function<void()>& on_slice) {
  OrderMatch match;
  match.pairs.reserve(static_cast<std::size_t>(orders.stop - orders.start));
  Slice moved = orders;
  Slice left = previous;
  while (moved.start < moved.stop && left.start < left.stop &&
         same_key(*orders.table, moved.start, *previous.table, left.start)) {
    match.pairs.push_back({moved.start++, left.start++});
    if (match.pairs.size() % rows_a_slice == 0) on_slice();
  }
  for (std::int64_t row = moved.start; row < moved.stop; ++row) match.pairs.push_back({row, -1});
  const std::vector<RowKey> now = sorted(moved);
  on_slice();
  const std::vector<RowKey> before = sorted(left);
  on_slice();
  auto old = before.begin();
  for (auto key = now.begin(); key != now.end() && old != before.end();) {
    const auto order = compare_keys(*previous.table, *old, *orders.table, *key, order_key);
    if (order < 0) {
      match.gone.push_back(old++->row);
      continue;
    }
    if (order == 0) match.pairs[place(key->row, orders)].previous = old++->row;
    ++key;
  }
  for (; old != before.end(); ++old) match.gone.push_back(old->row);
  std::sort(match.gone.begin(), match.gone.end());
  return match;
}

std::vector<std::int64_t> occurrences(const Slice& orders) {
  std::vector<std::int64_t> earlier(static_cast<std::size_t>(orders.stop - orders.start));
  const std::vector<RowKey> keys = sorted(orders);
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (same_key(*orders.table, keys[i - 1].row, *orders.table, keys[i].row)) {
      earlier[place(keys[i].row, orders)] = earlier[place(keys[i - 1].row, orders)] + 1;
    }
  }
  return earlier;
}

}  // namespace tradingdata::detail
