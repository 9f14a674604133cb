// Finds, for each response, the number of its rows that runs with time.
#include "compute/moments.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "table/records.hpp"

namespace tradingdata {

namespace {

class Orderer {
 public:
  Orderer(const GroupPart& trades, std::string_view buy)
      : trades_(trades),
        table_(*trades.rows.table),
        buy_(buy),
        times_(table_.column(trade_schema["exch_trade_time"]).as<std::int64_t>() +
               trades.rows.start) {}

  TradeOrder run(std::int64_t begin, std::int64_t end) {
    TradeOrder order;
    order.rows.resize(static_cast<std::size_t>(end - begin));
    std::iota(order.rows.begin(), order.rows.end(), begin);
    const auto time = [this](std::int64_t row) { return times_[row]; };
    if (!std::ranges::is_sorted(order.rows, {}, time)) {
      std::ranges::stable_sort(order.rows, {}, time);
    }
    if (ties_in(order.rows, true).empty()) return order;
    rank(order.rows);
    std::ranges::stable_sort(order.rows, [this](std::int64_t a, std::int64_t b) {
      return times_[a] != times_[b] ? times_[a] < times_[b] : ranks_[at(a)] < ranks_[at(b)];
    });
    for (const std::int64_t row : ties_in(order.rows, false)) {
      if (unknown_[at(row)]) order.undecided.push_back(row);
    }
    return order;
  }

 private:
  using Numbers = std::vector<std::optional<std::int64_t>>;  // by row

  static std::size_t at(std::int64_t row) { return static_cast<std::size_t>(row); }
  bool bought(std::int64_t row) const {
    return table_.text(trade_schema["txn_type"], trades_.rows.start + row) == buy_;
  }

  // The rows that share group and second with the row before them, and those; of two of one side,
  // the order decides which lot is closed first, but not whether one is.
  std::vector<std::int64_t> ties_in(const std::vector<std::int64_t>& rows, bool of_one_side) const {
    std::vector<std::int64_t> last(trades_.count.size(), -1);
    std::vector<std::int64_t> ties;
    for (const std::int64_t row : rows) {
      std::int64_t& before = last[at(trades_.group[at(row)])];
      if (before >= 0 && times_[before] == times_[row] &&
          (of_one_side || bought(before) != bought(row))) {
        ties.insert(ties.end(), {before, row});
        if (of_one_side) return ties;  // one is enough to look for their order
      }
      before = row;
    }
    return ties;
  }

  Numbers row_numbers() const {
    Numbers numbers(at(trades_.size()));
    const int field = trade_schema["row_no"];
    for (std::int64_t row = 0; row < trades_.size(); ++row) {
      const std::int64_t cell = trades_.rows.start + row;
      if (table_.valid(field, cell)) {
        numbers[at(row)] = table_.column(field).as<std::int64_t>()[cell];
      }
    }
    return numbers;
  }

  Numbers trade_numbers() const {
    Numbers numbers(at(trades_.size()));
    const int field = trade_schema["trade_no"];
    for (std::int64_t row = 0; row < trades_.size(); ++row) {
      const std::int64_t cell = trades_.rows.start + row;
      if (!table_.valid(field, cell)) continue;
      const std::string_view text = table_.text(field, cell);
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error == std::errc() && end == text.data() + text.size()) numbers[at(row)] = number;
    }
    return numbers;
  }

  // Sets the rank of each row within its second.
  void rank(const std::vector<std::int64_t>& rows) {
    const GroupedRows keyed{trades_.rows,
                            {{trade_schema["account"]},
                             {trade_schema["client_id"]},
                             {trade_schema["exch_trade_time"], true}}};
    const std::vector<std::int32_t> response = group_rows({&keyed, 1}).parts[0].group;
    std::vector<std::vector<std::int64_t>> responses(
        response.empty() ? 0 : at(std::ranges::max(response)) + 1);
    for (const std::int64_t row : rows) responses[at(response[at(row)])].push_back(row);
    const Numbers by_row = row_numbers();
    const Numbers by_trade = trade_numbers();
    Numbers by_place(at(trades_.size()));
    for (std::int64_t row = 0; row < trades_.size(); ++row) by_place[at(row)] = row;
    ranks_.resize(at(trades_.size()));
    unknown_.resize(at(trades_.size()));
    for (std::vector<std::int64_t>& of_response : responses) {
      if (!follows_time(of_response, by_row) && !follows_time(of_response, by_trade) &&
          !follows_time(of_response, by_place) && !orders(of_response, by_trade) &&
          !orders(of_response, by_row)) {
        orders(of_response, by_place);
        for (const std::int64_t row : of_response) unknown_[at(row)] = true;
      }
    }
  }

  // Sorts rows by their numbers; whether each has one of its own.
  static bool sort(std::vector<std::int64_t>& rows, const Numbers& numbers) {
    const auto number = [&](std::int64_t row) { return numbers[at(row)]; };
    if (!std::ranges::all_of(rows, [&](std::int64_t row) { return number(row).has_value(); })) {
      return false;
    }
    if (!std::ranges::is_sorted(rows, {}, number)) std::ranges::sort(rows, {}, number);
    return std::ranges::adjacent_find(rows, {}, number) == rows.end();
  }

  bool follows_time(std::vector<std::int64_t>& rows, const Numbers& numbers) {
    if (!sort(rows, numbers)) return false;
    const auto time = [this](std::int64_t row) { return times_[row]; };
    const bool rises = std::ranges::is_sorted(rows, {}, time);
    const bool falls = std::ranges::is_sorted(rows, std::ranges::greater(), time);
    if (rises == falls) return false;  // one time only, or no order at all
    for (const std::int64_t row : rows) {
      ranks_[at(row)] = rises ? *numbers[at(row)] : -*numbers[at(row)];
    }
    return true;
  }

  bool orders(std::vector<std::int64_t>& rows, const Numbers& numbers) {
    if (!sort(rows, numbers)) return false;
    for (const std::int64_t row : rows) ranks_[at(row)] = *numbers[at(row)];
    return true;
  }

  const GroupPart& trades_;
  const Table& table_;
  std::string_view buy_;
  const std::int64_t* times_;
  std::vector<std::int64_t> ranks_;
  std::vector<bool> unknown_;
};

}  // namespace

TradeOrder in_time(const GroupPart& trades, std::int64_t begin, std::int64_t end,
                   std::string_view buy) {
  return Orderer(trades, buy).run(begin, end);
}

}  // namespace tradingdata
