// Finds, for each response, the number of its rows that runs with time.
#include "compute/moments.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "table/records.hpp"

namespace tradingdata {

namespace {

// Not in templates, where clang 14 refuses them.
constexpr int account = trade_schema["account"];
constexpr int client = trade_schema["client_id"];
constexpr int time_of_trade = trade_schema["exch_trade_time"];

class Orderer {
 public:
  Orderer(const GroupPart& trades, std::string_view buy, std::span<const std::int32_t> origin)
      : trades_(trades),
        table_(*trades.rows.table),
        buy_(buy),
        origin_(origin),
        times_(table_.column(time_of_trade).as<std::int64_t>() + trades.rows.start) {}

  TradeOrder run(std::int64_t begin, std::int64_t end) {
    TradeOrder order;
    order.rows.resize(static_cast<std::size_t>(end - begin));
    std::iota(order.rows.begin(), order.rows.end(), begin);
    sort_by(order.rows, [this](std::int64_t row) { return times_[row]; });
    const auto tied = [this](std::int64_t a, std::int64_t b) { return times_[a] == times_[b]; };
    if (!any_neighbours(order.rows, tied)) return order;
    rank(order.rows);
    const auto is_before = [this](std::int64_t a, std::int64_t b) {
      return std::pair(ranks_[at(a)], a) < std::pair(ranks_[at(b)], b);
    };
    for (auto first = order.rows.begin(); first != order.rows.end();) {
      const auto last = std::find_if_not(first, order.rows.end(),
                                         [&](std::int64_t row) { return tied(*first, row); });
      std::sort(first, last, is_before);
      first = last;
    }
    // Among trades of one side, the order decides which lot is closed first, but not whether one
    // is.
    static_cast<void>(any_neighbours(order.rows, [&](std::int64_t a, std::int64_t b) {
      if (tied(a, b) && bought(a) != bought(b) &&
          (set_[at(a)] == undecided || set_[at(a)] != set_[at(b)])) {
        order.undecided.insert(order.undecided.end(), {a, b});
      }
      return false;
    }));
    return order;
  }

 private:
  using Numbers = std::vector<std::int64_t>;  // by row
  static constexpr std::int64_t none = INT64_MIN;
  static constexpr std::int64_t undecided = -1;

  static std::size_t at(std::int64_t row) { return static_cast<std::size_t>(row); }
  bool bought(std::int64_t row) const {
    return table_.text(trade_schema["txn_type"], trades_.rows.start + row) == buy_;
  }

  // Sorts rows by the key of each; those with equal keys keep their order. The keys are beside
  // their rows, since looking each up in its column would be slow.
  template <typename Key>
  static void sort_by(std::vector<std::int64_t>& rows, const Key& key) {
    if (std::ranges::is_sorted(rows, {}, key)) return;
    std::vector<std::pair<std::int64_t, std::int64_t>> keyed;
    keyed.reserve(rows.size());
    for (const std::int64_t row : rows) keyed.emplace_back(key(row), row);
    std::ranges::stable_sort(keyed, {}, &std::pair<std::int64_t, std::int64_t>::first);
    std::ranges::transform(keyed, rows.begin(), &std::pair<std::int64_t, std::int64_t>::second);
  }

  // Whether test(before, row) is true of two rows that follow each other within their group.
  template <typename Test>
  bool any_neighbours(const std::vector<std::int64_t>& rows, const Test& test) const {
    std::vector<std::int64_t> last(trades_.count.size(), -1);
    return std::ranges::any_of(rows, [&](std::int64_t row) {
      const std::int64_t before = std::exchange(last[at(trades_.group[at(row)])], row);
      return before >= 0 && test(before, row);
    });
  }

  // The numbers of the rows that have a value in a field; `read` gives that of a cell, or none.
  template <typename Read>
  Numbers numbers_of(int field, const Read& read) const {
    Numbers numbers(at(trades_.size()), none);
    for (std::int64_t row = 0; row < trades_.size(); ++row) {
      const std::int64_t cell = trades_.rows.start + row;
      if (table_.valid(field, cell)) numbers[at(row)] = read(cell);
    }
    return numbers;
  }

  static std::int64_t whole_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : none;
  }

  // Calls work with each set of rows that share account, client, day and some more fields.
  template <typename Work>
  void for_each_set(const std::vector<std::int64_t>& rows, std::initializer_list<int> more,
                    const Work& work) const {
    GroupedRows keyed{trades_.rows, {{account}, {client}, {time_of_trade, true}}};
    for (const int field : more) keyed.key.push_back({field});
    const Groups groups = group_rows({&keyed, 1});
    std::vector<std::vector<std::int64_t>> sets(at(groups.count));
    for (const std::int64_t row : rows) sets[at(groups.parts[0].group[at(row)])].push_back(row);
    for (std::vector<std::int64_t>& set : sets) work(set);
  }

  // Calls work with the rows of each origin.
  template <typename Work>
  void for_each_origin(std::vector<std::int64_t>& rows, const Work& work) const {
    if (origin_.empty()) return work(rows);
    const auto origin = [this](std::int64_t row) { return origin_[at(row)]; };
    sort_by(rows, origin);
    for (auto begin = rows.begin(); begin != rows.end();) {
      const auto end = std::ranges::upper_bound(begin, rows.end(), origin(*begin), {}, origin);
      std::vector<std::int64_t> part(begin, end);
      work(part);
      begin = end;
    }
  }

  // Sets the rank of each row within its second. Row numbers count through a response, trade
  // numbers through an exchange's segment. A number that contradicts the times, and the place of a
  // row, which a sort changes, rank the rows but do not decide.
  void rank(const std::vector<std::int64_t>& rows) {
    const Numbers by_row = numbers_of(trade_schema["row_no"], [&](std::int64_t row) {
      return table_.column(trade_schema["row_no"]).as<std::int64_t>()[row];
    });
    ranks_.resize(at(trades_.size()));
    set_.assign(at(trades_.size()), undecided);
    std::vector<std::vector<std::int64_t>> others;
    std::int64_t set = 0;
    const auto decide = [&](const std::vector<std::int64_t>& decided) {
      for (const std::int64_t row : decided) set_[at(row)] = set;
      ++set;
    };
    for_each_set(rows, {}, [&](std::vector<std::int64_t>& response) {
      if (follows_time(response, by_row)) return decide(response);
      others.push_back(std::move(response));
    });
    if (others.empty()) return;
    const Numbers by_trade = numbers_of(trade_schema["trade_no"], [&](std::int64_t row) {
      return whole_number(table_.text(trade_schema["trade_no"], row));
    });
    Numbers by_place(at(trades_.size()));
    std::iota(by_place.begin(), by_place.end(), 0);
    std::vector<std::int64_t> rest;
    for (std::vector<std::int64_t>& response : others) {
      rest.insert(rest.end(), response.begin(), response.end());
      static_cast<void>(follows_time(response, by_place) || orders(response, by_trade) ||
                        orders(response, by_place));
    }
    for_each_set(rest, {trade_schema["exchange"], trade_schema["segment"]},
                 [&](std::vector<std::int64_t>& shown) {
                   for_each_origin(shown, [&](std::vector<std::int64_t>& part) {
                     if (follows_time(part, by_row) || follows_time(part, by_trade) ||
                         (of_one_time(part) && (orders(part, by_trade) || orders(part, by_row)))) {
                       decide(part);
                     }
                   });
                 });
  }

  bool of_one_time(const std::vector<std::int64_t>& rows) const {
    return std::ranges::all_of(rows, [&](auto row) { return times_[row] == times_[rows[0]]; });
  }

  // Sorts rows by their numbers; whether each has one of its own.
  static bool sort(std::vector<std::int64_t>& rows, const Numbers& numbers) {
    const auto number = [&](std::int64_t row) { return numbers[at(row)]; };
    if (std::ranges::find(rows, none, number) != rows.end()) return false;
    sort_by(rows, number);
    return std::ranges::adjacent_find(rows, {}, number) == rows.end();
  }

  bool follows_time(std::vector<std::int64_t>& rows, const Numbers& numbers) {
    if (!sort(rows, numbers)) return false;
    const auto time = [this](std::int64_t row) { return times_[row]; };
    const bool rises = std::ranges::is_sorted(rows, {}, time);
    const bool falls = std::ranges::is_sorted(rows, std::ranges::greater(), time);
    if (rises == falls) return false;  // one time only, or no order at all
    for (const std::int64_t row : rows) {
      ranks_[at(row)] = rises ? numbers[at(row)] : -numbers[at(row)];
    }
    return true;
  }

  bool orders(std::vector<std::int64_t>& rows, const Numbers& numbers) {
    if (!sort(rows, numbers)) return false;
    for (const std::int64_t row : rows) ranks_[at(row)] = numbers[at(row)];
    return true;
  }

  const GroupPart& trades_;
  const Table& table_;
  std::string_view buy_;
  std::span<const std::int32_t> origin_;
  const std::int64_t* times_;
  std::vector<std::int64_t> ranks_;
  std::vector<std::int64_t> set_;  // by row: those whose ranks compare, or undecided
};

}  // namespace

TradeOrder in_time(const GroupPart& trades, std::int64_t begin, std::int64_t end,
                   std::string_view buy, std::span<const std::int32_t> origin) {
  return Orderer(trades, buy, origin).run(begin, end);
}

}  // namespace tradingdata
