// Keeps the open lots of each group and side in a queue, the oldest first.
#include "compute/lots.hpp"

#include <algorithm>
#include <cmath>

#include "compute/moments.hpp"
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
    result_.matches.reserve(values_.size());
    const std::int64_t settled = trades_.size() - rules_.settlements;
    TradeOrder order = in_time(trades_, rules_.opening, settled, rules_.buy, rules_.origin);
    for (const std::int64_t row : order.rows) take(row);
    for (std::int64_t row = settled; row < trades_.size(); ++row) take(row);
    result_.undecided = std::move(order.undecided);
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
    } else if (rules_.may_short[group] != 0) {
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

constexpr double half_a_paisa = 0.005;  // prices and values are rounded to two decimals
constexpr double a_paisa = 0.01;

// A trade with a value, and the whole numbers m for which quantity * price * m can be that value.
struct Evidence {
  double shares;  // of one unit
  double price;
  double value;

  bool is_exact(double m) const {
    constexpr double of_floats = 1e-12;
    return std::fabs(value - shares * price * m) <= a_paisa + of_floats * std::fabs(value);
  }
  double least() const {
    return (std::fabs(value) - a_paisa) / (shares * (std::fabs(price) + half_a_paisa));
  }
  double most() const {
    const double low = std::fabs(price) - half_a_paisa;
    return low > 0 ? (std::fabs(value) + a_paisa) / (shares * low) : HUGE_VAL;
  }
};

// What the trades of one contract prove so far.
class Proof {
 public:
  void add(std::int64_t row, const Evidence& trade, std::int64_t lot) {
    if (whole_ == 0) whole_ = std::round(trade.value / (trade.shares * trade.price));
    by_one_ = by_one_ && trade.is_exact(1);
    by_lot_ = by_lot_ && lot > 1 && trade.is_exact(static_cast<double>(lot));
    by_whole_ = by_whole_ && whole_ >= 1 && whole_ < 1e9 && trade.is_exact(whole_);
    if (lot > 1) lot_ = lot;
    const double least = std::max(1.0, std::ceil(trade.least()));
    const double most = std::floor(trade.most());
    const bool has_unit = least <= most && trade.value * trade.price >= 0;
    if (has_unit && conflict_ < 0) check_unit(row, least, most);
    least_ = std::max(least_, least);
    most_ = std::min(most_, most);
    if (odd_ < 0 && (least_ > most_ || !has_unit)) odd_ = row;
    if (first_ < 0) first_ = row;
  }
  void note_lot(std::int64_t lot) { has_lot_ = has_lot_ || lot > 1; }

  std::int64_t multiplier() const {
    if (first_ < 0) return has_lot_ ? 0 : Multipliers::unsaid;
    if (by_one_) return 1;
    if (by_lot_) return lot_;
    if (by_whole_) return static_cast<std::int64_t>(whole_);
    if (odd_ >= 0) return 0;
    if (least_ == most_) return static_cast<std::int64_t>(least_);
    const bool one = least_ <= 1;
    const auto lot = static_cast<double>(lot_);
    const bool of_lot = lot_ > 1 && least_ <= lot && lot <= most_;
    return one == of_lot ? 0 : one ? 1 : lot_;
  }
  std::int64_t odd() const { return odd_ >= 0 ? odd_ : first_; }
  std::int64_t other_unit() const { return conflict_; }
  std::int64_t unit_row() const { return unit_row_; }

 private:
  // Trades that have whole multipliers, but none in common, count in different units.
  void check_unit(std::int64_t row, double least, double most) {
    if (most < unit_least_ || least > unit_most_) {
      conflict_ = row;
      unit_row_ = most < unit_least_ ? least_row_ : most_row_;
      return;
    }
    if (least > unit_least_ || least_row_ < 0) least_row_ = row;
    if (most < unit_most_ || most_row_ < 0) most_row_ = row;
    unit_least_ = std::max(unit_least_, least);
    unit_most_ = std::min(unit_most_, most);
  }

  bool by_one_ = true;
  bool by_lot_ = true;
  bool by_whole_ = true;
  bool has_lot_ = false;
  double whole_ = 0;
  std::int64_t lot_ = 0;
  double least_ = 1;
  double most_ = HUGE_VAL;
  std::int64_t first_ = -1;
  std::int64_t odd_ = -1;
  double unit_least_ = 1;  // of the trades that have a whole multiplier
  double unit_most_ = HUGE_VAL;
  std::int64_t least_row_ = -1;
  std::int64_t most_row_ = -1;
  std::int64_t unit_row_ = -1;
  std::int64_t conflict_ = -1;
};

}  // namespace

Matching match_lots(const GroupPart& trades, const MatchingRules& rules) {
  return Matcher(trades, rules).run();
}

Multipliers multipliers_of(const GroupPart& trades, std::span<const std::int32_t> contract) {
  const Table& table = *trades.rows.table;
  const int fields[] = {trade_schema["quantity"], trade_schema["traded_price"],
                        trade_schema["trade_value"]};
  const int lot_size = trade_schema["lot_size"];
  std::vector<Proof> proofs(trades.count.size());
  for (std::int64_t at = 0; at < trades.size(); ++at) {
    const std::int64_t row = trades.rows.start + at;
    const auto group = static_cast<std::size_t>(trades.group[static_cast<std::size_t>(at)]);
    Proof& proof = proofs[static_cast<std::size_t>(contract[group])];
    const std::int64_t lot =
        table.valid(lot_size, row) ? table.column(lot_size).as<std::int64_t>()[row] : 0;
    proof.note_lot(lot);
    if (!std::ranges::all_of(fields, [&](int field) { return table.valid(field, row); })) continue;
    const Evidence trade{
        .shares = static_cast<double>(table.column(fields[0]).as<std::int64_t>()[row]),
        .price = table.column(fields[1]).as<double>()[row],
        .value = table.column(fields[2]).as<double>()[row]};
    if (trade.shares <= 0 || (trade.price == 0 && trade.value == 0)) continue;
    proof.add(at, trade, lot);
  }
  Multipliers found;
  for (const std::int32_t number : contract) {
    const Proof& proof = proofs[static_cast<std::size_t>(number)];
    const bool differs = proof.other_unit() >= 0;
    found.by_group.push_back(proof.multiplier());
    found.odd.push_back(differs ? proof.other_unit() : proof.odd());
    found.proof.push_back(differs ? proof.unit_row() : -1);
  }
  return found;
}

}  // namespace tradingdata
