// Keeps the open lots of each key in a queue, the oldest first, and what has ended in a journal.
#include "compute/lots.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "table/records.hpp"

namespace tradingdata {

namespace {

std::size_t at(std::int64_t row) {
  return static_cast<std::size_t>(row);
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

int128 Lot::take(std::int64_t taken) {
  left -= taken;
  const int128 before = value;
  value = left == 0 ? int128{0} : share_of(total, left, quantity);
  return before - value;
}

void LotFold::Queue::tidy() {
  if (!empty()) return;
  lots.clear();
  next = 0;
}

LotFold::LotFold(const GroupPart& trades, FoldRules rules)
    : rules_(std::move(rules)),
      key_(trades.group),
      values_(amounts_of(trades.rows, trade_schema["trade_value"], rules_.decimals).units),
      order_(in_time(trades, rules_.opening, trades.size(), rules_.buy, rules_.origin)),
      queues_(trades.count.size()) {
  const Table& table = *trades.rows.table;
  const auto numbers = [&](int field) {
    const std::int64_t* values = table.column(field).as<std::int64_t>();
    return std::vector(values + trades.rows.start, values + trades.rows.stop);
  };
  quantities_ = numbers(trade_schema["quantity"]);
  times_ = numbers(trade_schema["exch_trade_time"]);
  bought_.reserve(values_.size());
  for (std::int64_t row = trades.rows.start; row < trades.rows.stop; ++row) {
    bought_.push_back(table.text(trade_schema["txn_type"], row) == rules_.buy);
  }
  lots_.reserve(values_.size());
  parts_.reserve(values_.size());
}

LotFold::Queue& LotFold::queue(std::int32_t key) {
  if (at(key) >= queues_.size()) queues_.resize(at(key) + 1);
  return queues_[at(key)];
}

void LotFold::run(std::int64_t until) {
  while (next_ < order_.rows.size() && times_[at(order_.rows[next_])] < until) {
    trade(order_.rows[next_++]);
  }
}

void LotFold::close_lots(Lot& closing, Queue& queue) {
  while (closing.left > 0 && !queue.empty()) {
    const std::int64_t number = queue.lots[queue.next];
    Lot& lot = lots_[at(number)];
    if (lot.is_long == closing.is_long) break;
    const std::int64_t quantity = std::min(closing.left, lot.left);
    parts_.push_back(
        {number, closing.row, quantity, lot.take(quantity), closing.take(quantity), closing.since});
    if (lot.left == 0) ++queue.next;
  }
  queue.tidy();
}

void LotFold::trade(std::int64_t row) {
  const std::int32_t key = key_[at(row)];
  const bool purchase = bought_[at(row)];
  const std::int64_t time = times_[at(row)];
  Lot rest{row, key, purchase, time, time, quantities_[at(row)], values_[at(row)]};
  Queue& queue = queues_[at(key)];
  close_lots(rest, queue);
  if (rest.left == 0) return;
  const bool may_short = at(key) >= rules_.may_short.size() || rules_.may_short[at(key)] != 0;
  if (!purchase && !may_short) {
    unmatched_.push_back({row, key, rest.left, rest.value, time});
    return;
  }
  rest.order = std::ssize(lots_);
  queue.lots.push_back(rest.order);
  lots_.push_back(rest);
}

void LotFold::put(Lot lot, std::int64_t was) {
  Queue& lots = queue(lot.key);
  const bool keeps_place = was >= 0 && lots_[at(was)].key == lot.key;
  lot.order = keeps_place ? lots_[at(was)].order : std::ssize(lots_);
  const auto is_younger = [this](const Lot& own, std::int64_t number) {
    const Lot& other = lots_[at(number)];
    return std::tie(own.time, own.order) < std::tie(other.time, other.order);
  };
  const auto oldest = lots.lots.begin() + static_cast<std::ptrdiff_t>(lots.next);
  const auto place = std::upper_bound(oldest, lots.lots.end(), lot, is_younger);
  lots.lots.insert(place, std::ssize(lots_));
  lots_.push_back(lot);
}

void LotFold::close(std::int64_t row, std::int32_t key, std::int64_t quantity, int128 value,
                    std::int64_t until) {
  Lot closing{row, key, side(key) < 0, until, until, quantity, value};
  close_lots(closing, queue(key));
}

void LotFold::end(std::int64_t number, std::int64_t until) {
  Lot& lot = lots_[at(number)];
  const std::int64_t quantity = lot.left;
  parts_.push_back({number, -1, quantity, lot.take(quantity), 0, until});
  Queue& lots = queue(lot.key);
  const auto oldest = lots.lots.begin() + static_cast<std::ptrdiff_t>(lots.next);
  lots.lots.erase(std::find(oldest, lots.lots.end(), number));
  lots.tidy();
}

int LotFold::side(std::int32_t key) const {
  if (at(key) >= queues_.size() || queues_[at(key)].empty()) return 0;
  const Queue& lots = queues_[at(key)];
  return lots_[at(lots.lots[lots.next])].is_long ? 1 : -1;
}

std::vector<OpenPart> LotFold::held(std::int32_t key) const {
  std::vector<OpenPart> parts;
  if (at(key) >= queues_.size()) return parts;
  const Queue& queue = queues_[at(key)];
  for (const std::int64_t number : std::span(queue.lots).subspan(queue.next)) {
    const Lot& lot = lots_[at(number)];
    parts.push_back({number, lot.row, key, lot.is_long, lot.time, lot.left, lot.value});
  }
  return parts;
}

std::vector<OpenPart> LotFold::open() const {
  std::vector<OpenPart> parts;
  for (std::int32_t key = 0; key < std::ssize(queues_); ++key)
    std::ranges::copy(held(key), std::back_inserter(parts));
  return parts;
}

void LotFold::pay(std::int64_t number, std::int64_t row, int128 value, int128 paid_for,
                  std::int64_t until) {
  Lot& lot = lots_[at(number)];
  lot.value = sum_of(lot.value, -value);
  lot.total = lot.value;
  lot.quantity = lot.left;
  parts_.push_back({number, row, 0, value, paid_for, until});
}

std::int64_t LotFold::last_time(std::int64_t before) const {
  const auto time_of = [this](std::int64_t row) { return times_[at(row)]; };
  const auto next = std::ranges::lower_bound(order_.rows, before, {}, time_of);
  return next == order_.rows.begin() ? INT64_MIN : time_of(*std::prev(next));
}

std::vector<OpenPart> LotFold::parts_at(std::int64_t moment) const {
  std::vector<OpenPart> parts;
  std::vector<std::int64_t> place(lots_.size(), -1);
  const auto add = [&](std::int64_t number, std::int64_t quantity, int128 value) {
    const Lot& lot = lots_[at(number)];
    std::int64_t& own = place[at(number)];
    if (own < 0) {
      own = std::ssize(parts);
      parts.push_back({number, lot.row, lot.key, lot.is_long, lot.time, 0, 0});
    }
    OpenPart& part = parts[at(own)];
    part.quantity += quantity;
    part.value = sum_of(part.value, value);
  };
  for (const Part& part : parts_) {
    if (lots_[at(part.lot)].since < moment && moment <= part.until)
      add(part.lot, part.quantity, part.value);
  }
  for (std::int64_t number = 0; number < std::ssize(lots_); ++number) {
    const Lot& lot = lots_[at(number)];
    if (lot.left > 0 && lot.since < moment) add(number, lot.left, lot.value);
  }
  return parts;
}

std::vector<OpenPart> LotFold::open(std::int64_t moment) const {
  std::vector<OpenPart> parts = parts_at(moment);
  std::ranges::sort(parts, {}, [this](const OpenPart& part) {
    return std::tuple(part.key, part.time, lots_[at(part.lot)].order, part.lot);
  });
  return parts;
}

std::vector<Match> LotFold::matches(std::int64_t start, std::int64_t stop) const {
  std::vector<Match> found;
  for (const Part& part : parts_) {
    if (part.by < 0 || part.until < start || part.until >= stop) continue;
    const Lot& lot = lots_[at(part.lot)];
    found.push_back({lot.row, part.by, lot.is_long, part.quantity, part.value, part.closed_for});
  }
  return found;
}

std::vector<Unmatched> LotFold::unmatched(std::int64_t start, std::int64_t stop) const {
  std::vector<Unmatched> found;
  std::ranges::copy_if(unmatched_, std::back_inserter(found), [&](const Unmatched& sale) {
    return start <= sale.time && sale.time < stop;
  });
  return found;
}

std::vector<LotTotals> LotFold::totals(std::int64_t start, std::int64_t stop) const {
  std::vector<LotTotals> totals(keys());
  for (const OpenPart& part : parts_at(stop)) {
    LotTotals& own = totals[at(part.key)];
    const int sign = part.is_long ? 1 : -1;
    own.open = sum_of(own.open, sign * int128{part.quantity});
    own.open_value = sum_of(own.open_value, sign * part.value);
  }
  for (const Part& part : parts_) {
    if (part.by < 0 || part.until < start || part.until >= stop) continue;
    const Lot& lot = lots_[at(part.lot)];
    LotTotals& own = totals[at(lot.key)];
    own.quantity = sum_of(own.quantity, part.quantity);
    own.cost = sum_of(own.cost, lot.is_long ? part.value : part.closed_for);
    own.proceeds = sum_of(own.proceeds, lot.is_long ? part.closed_for : part.value);
  }
  for (const Unmatched& sale : unmatched(start, stop)) {
    LotTotals& own = totals[at(sale.key)];
    own.unmatched = sum_of(own.unmatched, sale.quantity);
    own.unmatched_value = sum_of(own.unmatched_value, sale.value);
  }
  return totals;
}

std::vector<Step> LotFold::steps(const std::vector<std::int64_t>& starts) const {
  const auto spans = std::ssize(starts) + 1;
  std::unordered_map<std::int64_t, std::size_t> place;
  std::vector<Step> steps;
  const auto step = [&](std::int32_t key, std::int64_t time) -> Step& {
    const std::int64_t span = std::ranges::upper_bound(starts, time) - starts.begin();
    const auto [own, is_new] = place.try_emplace(key * spans + span, steps.size());
    if (is_new) steps.push_back({key, span});
    return steps[own->second];
  };
  const auto move = [&](const Lot& lot, std::int64_t time, std::int64_t quantity, int128 value) {
    Step& own = step(lot.key, time);
    const int sign = lot.is_long ? 1 : -1;
    own.quantity = sum_of(own.quantity, sign * int128{quantity});
    own.value = sum_of(own.value, sign * value);
  };
  for (const Part& part : parts_) {
    const Lot& lot = lots_[at(part.lot)];
    move(lot, lot.since, part.quantity, part.value);
    move(lot, part.until, -part.quantity, -part.value);
    if (part.by < 0) continue;
    Step& own = step(lot.key, part.until);
    const int128 gained = part.closed_for - part.value;
    own.realised = sum_of(own.realised, lot.is_long ? gained : -gained);
  }
  for (const Lot& lot : lots_) {
    if (lot.left > 0) move(lot, lot.since, lot.left, lot.value);
  }
  return steps;
}

std::vector<KeyRows> LotFold::rows(std::int64_t before) const {
  std::vector<KeyRows> found(keys());
  std::vector<std::int64_t> newest(keys(), INT64_MIN);
  const auto know = [&](std::int64_t row, std::int32_t key, bool is_last) {
    KeyRows& own = found[at(key)];
    if (own.first < 0 || row < own.first) own.first = row;
    if (is_last) own.last = row;
  };
  for (std::int64_t row = rules_.opening; row < std::ssize(key_); ++row) {
    if (times_[at(row)] >= before) continue;
    know(row, key_[at(row)], true);
    std::int64_t& time = newest[at(key_[at(row)])];
    time = std::max(time, times_[at(row)]);
  }
  for (const Lot& lot : lots_) {
    const bool is_trade = lot.row >= rules_.opening && lot.row < std::ssize(key_);
    if (is_trade || lot.since >= before) continue;
    const bool is_last = found[at(lot.key)].last < 0 || lot.since > newest[at(lot.key)];
    know(lot.row, lot.key, is_last || found[at(lot.key)].last < rules_.opening);
  }
  return found;
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
