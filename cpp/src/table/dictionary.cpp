#include "table/dictionary.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>

namespace tradingdata {

namespace {

// Codes by first appearance.
Categories in_order_met(const Table& table, int field, std::int64_t start, std::int64_t length) {
  Categories met;
  met.codes.reserve(static_cast<std::size_t>(length));
  std::unordered_map<std::string_view, std::int32_t> known;
  const auto* const views = table.column(field).as<TextView>() + start;
  for (std::int64_t row = 0; row < length; ++row) {
    if (!table.valid(field, start + row)) {
      met.codes.push_back(-1);
    } else if (row > 0 && met.codes.back() >= 0 &&
               std::memcmp(views + row, views + row - 1, sizeof(TextView)) == 0) {
      met.codes.push_back(met.codes.back());  // equal views are equal text, and repeats are common
    } else {
      const std::string_view text = table.text(views[row]);
      const auto code = static_cast<std::int32_t>(met.values.size());
      const auto [entry, is_new] = known.try_emplace(text, code);
      if (is_new) met.values.push_back(text);
      met.codes.push_back(entry->second);
    }
  }
  return met;
}

}  // namespace

Categories categories_of(const Table& table, int field, std::int64_t start, std::int64_t length) {
  Categories met = in_order_met(table, field, start, length);
  std::vector<std::int32_t> order(met.values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto text = [&](std::int32_t code) { return met.values[static_cast<std::size_t>(code)]; };
  std::sort(order.begin(), order.end(),
            [&](std::int32_t a, std::int32_t b) { return text(a) < text(b); });
  Categories sorted;
  std::vector<std::int32_t> place(order.size());
  for (const std::int32_t code : order) {
    place[static_cast<std::size_t>(code)] = static_cast<std::int32_t>(sorted.values.size());
    sorted.values.push_back(text(code));
  }
  for (std::int32_t& code : met.codes) {
    if (code >= 0) code = place[static_cast<std::size_t>(code)];
  }
  sorted.codes = std::move(met.codes);
  return sorted;
}

}  // namespace tradingdata
