// Compares matched orders. Most orders of consecutive polls are equal, so one comparison of all
// their bytes comes first.
#include "table/diff.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "table/order_keys.hpp"
#include "table/personal.hpp"
#include "table/records.hpp"
#include "table/row_values.hpp"

namespace tradingdata {

namespace {

using detail::OrderPair;
using Names = std::vector<std::string_view>;

// Both tables, and which of their fields count.
class Comparison {
 public:
  Comparison(const Table& orders, const Table& previous, std::span<const std::string> ignore)
      : a_(orders), b_(previous), ignore_(ignore) {
    for (int field = 0; field < order_schema.width(); ++field) {
      const Field& known = order_schema.field(field);
      if (known.kind != Kind::timestamp && counts(known.name)) fields_.push_back(field);
    }
  }

  // Appends the names of the differing fields of each pair to `names`. Field by field, a few pairs
  // at a time, so that the long text of their rows stays in the cache from field to field.
  void compare(std::span<const OrderPair> pairs, std::span<Names> names) const {
    const bool in_step = are_consecutive(pairs);
    for (const int field : fields_) {
      const Field& known = order_schema.field(field);
      if (in_step && same_run(known, field, pairs)) continue;
      if (known.kind == Kind::text) {
        compare_text(known, field, pairs, names);
      } else {
        compare_values(known, field, pairs, names);
      }
    }
    if (a_.extras().empty() && b_.extras().empty()) return;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i].previous >= 0) compare_extras(pairs[i], names[i]);
    }
  }

 private:
  using Extras = std::vector<std::pair<std::string_view, std::string_view>>;

  bool counts(std::string_view name) const {
    return std::find(ignore_.begin(), ignore_.end(), name) == ignore_.end();
  }

  // Whether the orders are consecutive previous ones: usually true for most of a book.
  static bool are_consecutive(std::span<const OrderPair> pairs) {
    const std::int64_t first = pairs.front().previous;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i].previous != first + static_cast<std::int64_t>(i)) return false;
    }
    return first >= 0;
  }

  // Whether nothing differs for certain, by one comparison of all bytes.
  bool same_run(const Field& known, int field, std::span<const OrderPair> pairs) const {
    const Column& a = a_.column(field);
    const Column& b = b_.column(field);
    const std::int64_t width = width_of(known.kind);
    const std::byte* const values = a.values + pairs.front().row * width;
    return a.nulls == 0 && b.nulls == 0 &&
           std::memcmp(values, b.values + pairs.front().previous * width,
                       pairs.size() * static_cast<std::size_t>(width)) == 0 &&
           (known.kind != Kind::text ||
            are_short(reinterpret_cast<const TextView*>(values), pairs));
  }

  // Equal views mean equal text only where they contain it: places refer to different tables.
  static bool are_short(const TextView* views, std::span<const OrderPair> pairs) {
    return std::all_of(views, views + pairs.size(),
                       [](const TextView& view) { return view.is_inline(); });
  }

  void compare_values(const Field& known, int field, std::span<const OrderPair> pairs,
                      std::span<Names> names) const {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i].previous < 0) continue;
      if (!detail::same_value(a_, pairs[i].row, b_, pairs[i].previous, field)) {
        names[i].push_back(known.name);
      }
    }
  }

  void compare_text(const Field& known, int field, std::span<const OrderPair> pairs,
                    std::span<Names> names) const {
    const bool by_mask = known.personal() && a_.masked() != b_.masked();
    const Column& a = a_.column(field);
    const Column& b = b_.column(field);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const OrderPair& pair = pairs[i];
      if (pair.previous < 0) continue;
      constexpr std::size_t ahead = 16;
      if (i + ahead < pairs.size() && pairs[i + ahead].previous >= 0) {
        prefetch_text(a_, a.as<TextView>()[pairs[i + ahead].row]);
        prefetch_text(b_, b.as<TextView>()[pairs[i + ahead].previous]);
      }
      const bool same =
          a.valid(pair.row) == b.valid(pair.previous) &&
          same_text(a.as<TextView>()[pair.row], b.as<TextView>()[pair.previous], by_mask);
      if (!same) names[i].push_back(known.name);
    }
  }

  // Long text is in the body, a record's length away from that of the next row.
  static void prefetch_text([[maybe_unused]] const Table& table,
                            [[maybe_unused]] const TextView& view) {
#if defined(__GNUC__)
    if (!view.is_inline()) __builtin_prefetch(table.text(view).data());
#endif
  }

  bool same_text(const TextView& a, const TextView& b, bool by_mask) const {
    if (by_mask) return masked(a_.text(a)) == masked(b_.text(b));
    // The size and the first bytes distinguish most texts, and all short ones.
    if (a.is_inline()) return std::memcmp(&a, &b, sizeof a) == 0;
    return a.size == b.size && a_.text(a) == b_.text(b);
  }

  Extras extras_of(const Table& table, std::int64_t row) const {
    Extras extras = detail::sorted_extras(table, row);
    std::erase_if(extras, [&](const auto& extra) { return !counts(extra.first); });
    return extras;
  }

  void compare_extras(const OrderPair& pair, Names& names) const {
    const Extras a = extras_of(a_, pair.row);
    const Extras b = extras_of(b_, pair.previous);
    if (a == b) return;
    Extras differing;
    std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(),
                                  std::back_inserter(differing));
    for (const auto& [name, json] : differing) {
      if (names.empty() || names.back() != name) names.push_back(name);
    }
  }

  const Table& a_;
  const Table& b_;
  std::span<const std::string> ignore_;
  std::vector<int> fields_;
};

bool is_older(const Table& orders, const Table& previous, const OrderPair& pair) {
  constexpr int updated = order_schema["last_updated_time"];
  if (pair.previous < 0) return false;
  if (!orders.valid(updated, pair.row) || !previous.valid(updated, pair.previous)) return false;
  return orders.column(updated).as<std::int64_t>()[pair.row] <
         previous.column(updated).as<std::int64_t>()[pair.previous];
}

}  // namespace

OrderDiff diff_orders(const Slice& orders, const Slice& previous,
                      std::span<const std::string> ignore, const std::function<void()>& on_slice) {
  if (&orders.table->schema() != &order_schema || &previous.table->schema() != &order_schema) {
    throw std::invalid_argument("only books of orders have a diff");
  }
  constexpr std::size_t at_a_time = 128;
  const Comparison comparison(*orders.table, *previous.table, ignore);
  const detail::OrderMatch match = detail::match_orders(orders, previous, on_slice);
  OrderDiff result;
  std::vector<Names> names(at_a_time);
  for (std::size_t done = 0; done < match.pairs.size(); done += at_a_time) {
    const auto pairs =
        std::span(match.pairs).subspan(done, std::min(at_a_time, match.pairs.size() - done));
    on_slice();
    comparison.compare(pairs, names);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const OrderPair& pair = pairs[i];
      if (is_older(*orders.table, *previous.table, pair)) {
        result.older.push_back({pair.row, pair.previous, 0});
      }
      if (pair.previous < 0) {
        result.changes.push_back({ChangeKind::added, pair.row, -1});
      } else if (!names[i].empty()) {
        result.changes.push_back(
            {ChangeKind::changed, pair.row, pair.previous, std::exchange(names[i], {})});
      }
    }
  }
  if (!result.older.empty()) {
    const std::vector<std::int64_t> before = detail::occurrences(orders);
    for (OlderOrder& order : result.older) {
      order.occurrence = before[static_cast<std::size_t>(order.row - orders.start)];
    }
  }
  for (const std::int64_t row : match.gone) {
    result.changes.push_back({ChangeKind::gone, -1, row});
  }
  return result;
}

}  // namespace tradingdata
