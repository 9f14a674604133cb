// Keeps the open lots of each side of a group in a queue, the oldest first.
#include "compute/lots.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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
  void clear() {
    lots_.clear();
    next_ = 0;
  }

 private:
  std::vector<Remainder> lots_;
  std::size_t next_ = 0;
};

std::size_t at(std::int64_t row) {
  return static_cast<std::size_t>(row);
}

// The rows of each group, in the order given.
std::vector<std::int64_t> by_group(const GroupPart& part, std::span<const std::int64_t> rows) {
  std::vector<std::int64_t> next;
  std::int64_t before = 0;
  for (const std::int64_t count : part.count) next.push_back(std::exchange(before, before + count));
  std::vector<std::int64_t> result(rows.size());
  for (const std::int64_t row : rows) result[at(next[at(part.group[at(row)])]++)] = row;
  return result;
}

// Matches one group after the other, so that its lots stay in the cache.
class Matcher {
 public:
  Matcher(const GroupPart& trades, const MatchingRules& rules)
      : trades_(trades),
        rules_(rules),
        quantities_(trades.rows.table->column(trade_schema["quantity"]).as<std::int64_t>() +
                    trades.rows.start),
        times_(trades.rows.table->column(trade_schema["exch_trade_time"]).as<std::int64_t>() +
               trades.rows.start),
        values_(amounts_of(trades.rows, trade_schema["trade_value"], rules.decimals).units) {
    for (std::int64_t row = trades.rows.start; row < trades.rows.stop; ++row) {
      bought_.push_back(trades.rows.table->text(trade_schema["txn_type"], row) == rules.buy);
    }
  }

  Matching run() {
    result_.rows.resize(at(trades_.size()));
    std::iota(result_.rows.begin(), result_.rows.end(), 0);
    const std::int64_t settled = trades_.size() - rules_.settlements;
    TradeOrder order = in_time(trades_, rules_.opening, settled, rules_.buy, rules_.origin);
    std::ranges::copy(order.rows, result_.rows.begin() + rules_.opening);
    result_.undecided = std::move(order.undecided);
    result_.matches.reserve(values_.size());
    const std::vector<std::int64_t> rows = by_group(trades_, result_.rows);
    auto first = rows.begin();
    for (std::size_t group = 0; group < trades_.count.size(); ++group) {
      const auto end = first + trades_.count[group];
      result_.totals.push_back(match({first, end}, rules_.may_short[group] != 0));
      first = end;
    }
    return std::move(result_);
  }

 private:
  LotTotals match(std::span<const std::int64_t> rows, bool may_short) {
    LotTotals totals;
    long_.clear();
    short_.clear();
    // Collected before they are matched, since reads that wait for nothing overlap.
    group_.clear();
    for (const std::int64_t row : rows) group_.push_back({row, quantities_[row], values_[at(row)]});
    for (Remainder& trade : group_) {
      const std::int64_t row = trade.row;
      const bool purchase = bought_[at(row)];
      const bool counted = counts_all_ || times_[row] >= rules_.counted_from;
      if (row >= rules_.opening)
        close(purchase ? short_ : long_, trade, !purchase, counted, totals);
      if (trade.left == 0) continue;
      if (purchase) {
        long_.add(trade);
      } else if (row < rules_.opening || may_short) {
        short_.add(trade);
      } else if (counted) {
        result_.unmatched.push_back({row, false, trade.left, trade.value});
        totals.unmatched = sum_of(totals.unmatched, trade.left);
        totals.unmatched_value = sum_of(totals.unmatched_value, trade.value);
      }
    }
    leave(long_, true, totals);
    leave(short_, false, totals);
    return totals;
  }

  void close(Queue& lots, Remainder& trade, bool is_long, bool counted, LotTotals& totals) {
    while (trade.left > 0 && !lots.empty()) {
      Remainder& lot = lots.oldest();
      const std::int64_t quantity = std::min(trade.left, lot.left);
      const Match match{lot.row,  trade.row,          is_long,
                        quantity, lot.take(quantity), trade.take(quantity)};
      if (counted) {
        result_.matches.push_back(match);
        totals.quantity = sum_of(totals.quantity, quantity);
        totals.cost = sum_of(totals.cost, match.cost());
        totals.proceeds = sum_of(totals.proceeds, match.proceeds());
      }
      if (lot.left == 0) lots.drop();
    }
  }

  void leave(const Queue& lots, bool is_long, LotTotals& totals) {
    const int sign = is_long ? 1 : -1;
    for (const Remainder& lot : lots.open()) {
      result_.open.push_back({lot.row, is_long, lot.left, lot.value});
      totals.open = sum_of(totals.open, sign * int128{lot.left});
      totals.open_value = sum_of(totals.open_value, sign * lot.value);
    }
  }

  const GroupPart& trades_;
  const MatchingRules& rules_;
  const std::int64_t* quantities_;
  const std::int64_t* times_;
  std::vector<int128> values_;
  std::vector<bool> bought_;
  bool counts_all_ = rules_.counted_from == INT64_MIN;
  std::vector<Remainder> group_;  // the current one
  Queue long_;                    // its lots
  Queue short_;
  Matching result_;
};

// Parts by group, of which those of one row are neighbours, in the order of these rows.
template <typename Part>
std::vector<Part> in_order(const std::vector<Part>& parts, std::span<const std::int64_t> rows,
                           std::int64_t Part::* row_of) {
  if (parts.empty()) return {};
  std::vector<std::size_t> first(rows.size(), parts.size());
  for (std::size_t i = parts.size(); i > 0; --i) first[at(parts[i - 1].*row_of)] = i - 1;
  std::vector<Part> result;
  result.reserve(parts.size());
  for (const std::int64_t row : rows) {
    for (std::size_t i = first[at(row)]; i < parts.size() && parts[i].*row_of == row; ++i) {
      result.push_back(parts[i]);
    }
  }
  return result;
}

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

std::vector<Match> matches_in_time(const Matching& matching) {
  return in_order(matching.matches, matching.rows, &Match::trade);
}

std::vector<LotPart> unmatched_in_time(const Matching& matching) {
  return in_order(matching.unmatched, matching.rows, &LotPart::row);
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
