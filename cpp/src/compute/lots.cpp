// Keeps the open lots of each group and side in a queue, the oldest first.
#include "compute/lots.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "table/records.hpp"

namespace tradingdata {

namespace {

// The unmatched part of a row. The values of the parts taken add up to the row's value.
struct Remainder {
  std::int64_t row;
  std::int64_t quantity;  // of the row
  int128 total;           // its value
  std::int64_t left = quantity;
  int128 value = total;  // of what is left

  // Takes a quantity and returns its share of the value.
  int128 take(std::int64_t taken) {
    left -= taken;
    const int128 before = value;
    value = left == 0 ? int128{0} : share_of(total, left, quantity);
    return before - value;
  }
};

class Queue {
 public:
  bool empty() const { return next_ == lots_.size(); }
  Remainder& oldest() { return lots_[next_]; }
  void drop() { ++next_; }
  void add(const Remainder& lot) { lots_.push_back(lot); }
  std::span<const Remainder> open() const { return std::span(lots_).subspan(next_); }

 private:
  std::vector<Remainder> lots_;
  std::size_t next_ = 0;
};

// The rows after the opening lots, by time; the settlements remain last.
std::vector<std::int64_t> rows_by_time(const GroupPart& trades, const MatchingRules& rules) {
  const auto* const times =
      trades.rows.table->column(trade_schema["exch_trade_time"]).as<std::int64_t>() +
      trades.rows.start;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(trades.size() - rules.opening));
  std::iota(rows.begin(), rows.end(), rules.opening);
  const auto end = rows.end() - rules.settlements;
  const auto time = [times](std::int64_t row) { return times[row]; };
  if (!std::ranges::is_sorted(rows.begin(), end, {}, time)) {
    std::ranges::stable_sort(rows.begin(), end, {}, time);
  }
  return rows;
}

class Matcher {
 public:
  Matcher(const GroupPart& trades, const MatchingRules& rules)
      : trades_(trades),
        rules_(rules),
        quantities_(trades.rows.table->column(trade_schema["quantity"]).as<std::int64_t>() +
                    trades.rows.start),
        times_(trades.rows.table->column(trade_schema["exch_trade_time"]).as<std::int64_t>() +
               trades.rows.start),
        values_(amounts_of(trades.rows, trade_schema["trade_value"], rules.decimals).units),
        long_(trades.count.size()),
        short_(trades.count.size()) {}

  Matching run() {
    for (std::int64_t row = 0; row < rules_.opening; ++row) {
      (bought(row) ? long_ : short_)[group_of(row)].add(remainder(row));
    }
    for (const std::int64_t row : rows_by_time(trades_, rules_)) take(row);
    for (std::size_t group = 0; group < long_.size(); ++group) {
      for (const Remainder& lot : long_[group].open()) result_.open.push_back(part(lot, true));
      for (const Remainder& lot : short_[group].open()) result_.open.push_back(part(lot, false));
    }
    return std::move(result_);
  }

 private:
  std::size_t group_of(std::int64_t row) const {
    return static_cast<std::size_t>(trades_.group[static_cast<std::size_t>(row)]);
  }
  bool bought(std::int64_t row) const {
    return trades_.rows.table->text(trade_schema["txn_type"], trades_.rows.start + row) ==
           rules_.buy;
  }
  Remainder remainder(std::int64_t row) const {
    return {row, quantities_[row], values_[static_cast<std::size_t>(row)]};
  }
  static LotPart part(const Remainder& lot, bool is_long) {
    return {lot.row, is_long, lot.left, lot.value};
  }

  void take(std::int64_t row) {
    const std::size_t group = group_of(row);
    const bool purchase = bought(row);
    const bool counted = times_[row] >= rules_.counted_from;
    Queue& closing = purchase ? short_[group] : long_[group];
    Remainder trade = remainder(row);
    while (trade.left > 0 && !closing.empty()) {
      Remainder& lot = closing.oldest();
      const std::int64_t quantity = std::min(trade.left, lot.left);
      const int128 lot_value = lot.take(quantity);
      const int128 trade_value = trade.take(quantity);
      if (counted) {
        result_.matches.push_back({lot.row, row, !purchase, quantity, lot_value, trade_value});
      }
      if (lot.left == 0) closing.drop();
    }
    if (trade.left == 0) return;
    if (purchase) {
      long_[group].add(trade);
    } else if (rules_.may_short[static_cast<std::size_t>(row)] != 0) {
      short_[group].add(trade);
    } else if (counted) {
      result_.unmatched.push_back(part(trade, false));
    }
  }

  const GroupPart& trades_;
  const MatchingRules& rules_;
  const std::int64_t* quantities_;
  const std::int64_t* times_;
  std::vector<int128> values_;
  std::vector<Queue> long_;
  std::vector<Queue> short_;
  Matching result_;
};

// Whether a value is that of this number of shares; prices and values are rounded to two decimals.
bool is_value_of(double value, double shares, double price) {
  constexpr double half_a_paisa = 0.005;
  constexpr double a_paisa = 0.01;
  return std::fabs(value - shares * price) <= std::fabs(shares) * half_a_paisa + a_paisa;
}

}  // namespace

Matching match_lots(const GroupPart& trades, const MatchingRules& rules) {
  return Matcher(trades, rules).run();
}

Multipliers multipliers_of(const GroupPart& trades) {
  const Table& table = *trades.rows.table;
  const int fields[] = {trade_schema["quantity"], trade_schema["traded_price"],
                        trade_schema["trade_value"], trade_schema["lot_size"]};
  Multipliers found{.by_group = std::vector<std::int64_t>(trades.count.size())};
  std::vector<std::int64_t> proofs(trades.count.size());
  for (std::int64_t at = 0; at < trades.size(); ++at) {
    const std::int64_t row = trades.rows.start + at;
    if (!std::ranges::all_of(fields, [&](int field) { return table.valid(field, row); })) continue;
    const std::int64_t lot = table.column(fields[3]).as<std::int64_t>()[row];
    if (lot == 0 || lot == 1) continue;
    const auto quantity = static_cast<double>(table.column(fields[0]).as<std::int64_t>()[row]);
    const double price = table.column(fields[1]).as<double>()[row];
    const double value = table.column(fields[2]).as<double>()[row];
    const bool of_one = is_value_of(value, quantity, price);
    const bool of_lot = is_value_of(value, quantity * static_cast<double>(lot), price);
    if (of_one == of_lot) continue;
    const std::int64_t multiplier = of_one ? 1 : lot;
    const auto group = static_cast<std::size_t>(trades.group[static_cast<std::size_t>(at)]);
    if (found.by_group[group] == 0) {
      found.by_group[group] = multiplier;
      proofs[group] = at;
    } else if (found.by_group[group] != multiplier) {
      found.conflict = at;
      found.proof = proofs[group];
      found.conflicting = multiplier;
      return found;
    }
  }
  return found;
}

}  // namespace tradingdata
