// Ranks the trades of a second by the first of a short list of candidates that fits their response,
// or their exchange. Sets of rows are kept in the order of their times, so that whether a number
// runs with them shows without a sort, mostly after a few rows.
#include "compute/moments.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "base/time.hpp"
#include "table/records.hpp"

namespace tradingdata {

namespace {

// Not in templates, where clang 14 refuses them.
constexpr int row_number = trade_schema["row_no"];
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
    order.rows.resize(at(end - begin));
    std::iota(order.rows.begin(), order.rows.end(), begin);
    sort_by_time(order.rows);
    const auto tied = [this](std::int64_t a, std::int64_t b) { return times_[a] == times_[b]; };
    if (!any_neighbours(order.rows, tied)) return order;
    rank(order.rows);
    const auto is_before = [this](std::int64_t a, std::int64_t b) {
      return std::pair(ranks_[at(a)], a) < std::pair(ranks_[at(b)], b);
    };
    for (auto first = order.rows.begin(); first != order.rows.end();) {
      const auto last = end_of_second(first, order.rows.end());
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
  using RowNumbers = std::vector<std::int64_t>;  // in the order of their times
  using Numbers = std::vector<std::int64_t>;     // by row
  static constexpr std::int64_t none = INT64_MIN;
  static constexpr std::int64_t undecided = -1;

  static std::size_t at(std::int64_t row) { return static_cast<std::size_t>(row); }
  bool bought(std::int64_t row) const {
    return table_.text(trade_schema["txn_type"], trades_.rows.start + row) == buy_;
  }

  // Rows of one time keep their order. The times are beside their rows, since looking each up in
  // its column would be slow.
  void sort_by_time(RowNumbers& rows) const {
    if (std::ranges::is_sorted(rows, {}, [this](std::int64_t row) { return times_[row]; })) return;
    std::vector<std::pair<std::int64_t, std::int64_t>> timed;
    timed.reserve(rows.size());
    for (const std::int64_t row : rows) timed.emplace_back(times_[row], row);
    std::ranges::stable_sort(timed, {}, &std::pair<std::int64_t, std::int64_t>::first);
    std::ranges::transform(timed, rows.begin(), &std::pair<std::int64_t, std::int64_t>::second);
  }

  template <typename Row>
  Row end_of_second(Row first, Row end) const {
    return std::find_if(first, end, [this, time = times_[*first]](std::int64_t row) {
      return times_[row] != time;
    });
  }

  // Whether test(before, row) is true of two rows that follow each other within their group.
  template <typename Test>
  bool any_neighbours(const RowNumbers& rows, const Test& test) const {
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

  // Rows that share account, client and day, which are those of one response or of several; or
  // only those of one exchange and segment, where they were traded.
  std::vector<RowNumbers> sets_of(const RowNumbers& rows, bool of_exchanges) const {
    GroupedRows keyed{trades_.rows, {{trade_schema["account"]}, {trade_schema["client_id"]}}};
    if (of_exchanges) {
      keyed.key.push_back({trade_schema["exchange"]});
      keyed.key.push_back({trade_schema["segment"]});
    }
    const std::vector<std::int32_t> numbers = coarser({&trades_, 1}, {&keyed, 1});
    const bool by_origin = of_exchanges && !origin_.empty();
    const std::int64_t origins = by_origin ? std::ranges::max(origin_) + std::int64_t{1} : 1;
    std::vector<RowNumbers> sets;
    std::vector<std::int64_t> newest(numbers.size() * at(origins), -1);  // the set of the last day
    for (const std::int64_t row : rows) {
      const std::int64_t number = numbers[at(trades_.group[at(row)])];
      const std::int64_t origin = by_origin ? origin_[at(row)] : 0;
      std::int64_t& set = newest[at(number * origins + origin)];
      if (set < 0 || day_of(times_[sets[at(set)].back()]) != day_of(times_[row])) {
        set = std::ssize(sets);
        sets.emplace_back();
      }
      sets[at(set)].push_back(row);
    }
    return sets;
  }

  // What may rank the rows of a set, which must have a number each.
  struct Candidate {
    enum class Need { runs_with_time, one_time, nothing };

    const Numbers& numbers;
    Need need;
    bool decides;  // or else only ranks
  };
  using Need = Candidate::Need;

  // Sets the rank of each row within its second. Row numbers count through a response, trade
  // numbers through an exchange's segment. A number that contradicts the times, and the place of a
  // row, which a sort changes, rank the rows but do not decide.
  void rank(const RowNumbers& rows) {
    const Numbers by_row = numbers_of(row_number, [this](std::int64_t cell) {
      return table_.column(row_number).as<std::int64_t>()[cell];
    });
    Numbers places(at(trades_.size()));
    std::iota(places.begin(), places.end(), 0);
    ranks_ = places;
    set_.assign(at(trades_.size()), undecided);
    const RowNumbers rest = rank_by({{by_row, Need::runs_with_time, true}}, sets_of(rows, false));
    if (rest.empty()) return;
    const Numbers by_trade = numbers_of(trade_schema["trade_no"], [this](std::int64_t cell) {
      return whole_number(table_.text(trade_schema["trade_no"], cell));
    });
    rank_by({{places, Need::runs_with_time, false}, {by_trade, Need::nothing, false}},
            sets_of(rest, false));
    rank_by({{by_row, Need::runs_with_time, true},
             {by_trade, Need::runs_with_time, true},
             {by_trade, Need::one_time, true},
             {by_row, Need::one_time, true}},
            sets_of(rest, true));
  }

  // Ranks each set by the first candidate that fits, and returns the rows that none decides.
  RowNumbers rank_by(std::initializer_list<Candidate> candidates,
                     const std::vector<RowNumbers>& sets) {
    RowNumbers rest;
    for (const RowNumbers& rows : sets) {
      const auto* const fitting = std::ranges::find_if(candidates, [&](const Candidate& candidate) {
        const int sign = sign_of(candidate, rows);
        if (sign == 0 || !are_distinct(rows, candidate.numbers)) return false;
        for (const std::int64_t row : rows) ranks_[at(row)] = sign * candidate.numbers[at(row)];
        return true;
      });
      if (fitting == candidates.end() || !fitting->decides) {
        rest.insert(rest.end(), rows.begin(), rows.end());
        continue;
      }
      for (const std::int64_t row : rows) set_[at(row)] = sets_;
      ++sets_;
    }
    return rest;
  }

  // -1 where the numbers rank the rows backwards; 0: not at all.
  int sign_of(const Candidate& candidate, const RowNumbers& rows) const {
    if (candidate.need == Need::nothing) return 1;
    const bool one_time = times_[rows.front()] == times_[rows.back()];
    if (one_time || candidate.need == Need::one_time) {
      return one_time && candidate.need == Need::one_time ? 1 : 0;
    }
    const auto number = [&](std::int64_t row) { return candidate.numbers[at(row)]; };
    bool rises = true;
    bool falls = true;
    std::pair<std::int64_t, std::int64_t> before;  // the least and the greatest of a second
    for (auto first = rows.begin(); first != rows.end() && (rises || falls);) {
      const auto last = end_of_second(first, rows.end());
      const auto [least, greatest] = std::ranges::minmax_element(first, last, {}, number);
      const std::pair range(number(*least), number(*greatest));
      if (first != rows.begin()) {
        rises = rises && before.second < range.first;
        falls = falls && range.second < before.first;
      }
      before = range;
      first = last;
    }
    return rises ? 1 : falls ? -1 : 0;
  }

  // Whether each row has a number of its own.
  static bool are_distinct(const RowNumbers& rows, const Numbers& numbers) {
    std::vector<std::int64_t> sorted;
    sorted.reserve(rows.size());
    for (const std::int64_t row : rows) sorted.push_back(numbers[at(row)]);
    if (!std::ranges::is_sorted(sorted)) std::ranges::sort(sorted);
    return sorted.front() != none && std::ranges::adjacent_find(sorted) == sorted.end();
  }

  const GroupPart& trades_;
  const Table& table_;
  std::string_view buy_;
  std::span<const std::int32_t> origin_;
  const std::int64_t* times_;
  std::vector<std::int64_t> ranks_;  // their places, unless a number ranks them
  std::vector<std::int64_t> set_;    // by row: those whose ranks compare, or undecided
  std::int64_t sets_ = 0;
};

}  // namespace

TradeOrder in_time(const GroupPart& trades, std::int64_t begin, std::int64_t end,
                   std::string_view buy, std::span<const std::int32_t> origin) {
  return Orderer(trades, buy, origin).run(begin, end);
}

}  // namespace tradingdata
