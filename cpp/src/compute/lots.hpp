// Lots of trades: first-in-first-out matching within groups, and the multiplier of a contract.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compute/groups.hpp"

namespace tradingdata {

struct MatchingRules {
  std::string_view buy;          // the txn_type of a purchase; any other code is a sale
  int decimals = 2;              // of the unit of all values
  std::int64_t opening = 0;      // the first rows are lots to start from, in their order
  std::int64_t settlements = 0;  // the last rows close what the trades have left open
  // By group: whether a sale without a lot to close may open a short one.
  std::span<const std::uint8_t> may_short;
  std::int64_t counted_from = INT64_MIN;  // microseconds; what closes before is not reported
  std::span<const std::int32_t> origin;   // by row: see `in_time`
};

// A quantity of a lot that a trade closed; both are rows, the values exact.
struct Match {
  std::int64_t lot;
  std::int64_t trade;
  bool is_long;
  std::int64_t quantity;
  int128 lot_value;
  int128 trade_value;

  int128 cost() const { return is_long ? lot_value : trade_value; }
  int128 proceeds() const { return is_long ? trade_value : lot_value; }
};

// What is left of a row.
struct LotPart {
  std::int64_t row;
  bool is_long;
  std::int64_t quantity;
  int128 value;
};

// The sums of a group.
struct LotTotals {
  int128 quantity = 0;  // of what was closed
  int128 cost = 0;
  int128 proceeds = 0;
  int128 unmatched = 0;
  int128 unmatched_value = 0;
  int128 open = 0;  // negative if it is short
  int128 open_value = 0;
};

struct Matching {
  std::vector<std::int64_t> rows;       // in the order in which they were matched
  std::vector<Match> matches;           // by group, in the order in which they were closed
  std::vector<LotPart> unmatched;       // by group: sales that closed no lot and opened none
  std::vector<LotPart> open;            // by group, the long lots first, the oldest first
  std::vector<std::int64_t> undecided;  // rows of both sides in a second whose order is not known
  std::vector<LotTotals> totals;        // by group
};

// Matches the trades in their order in time (`in_time`).
// Requires a side, a quantity of at least 1, a value and, but for opening lots, a time in each row.
Matching match_lots(const GroupPart& trades, const MatchingRules& rules);

// In the order in which they were closed, or traded, whatever their group.
std::vector<Match> matches_in_time(const Matching& matching);
std::vector<LotPart> unmatched_in_time(const Matching& matching);

// What the trades of a contract prove of its multiplier, that is of m in value = quantity * price *
// m.
struct Multipliers {
  static constexpr std::int64_t unsaid = -1;  // no trade has a price and a value, nor a lot size
  std::vector<std::int64_t> by_group;         // 0: not proved
  std::vector<std::int64_t> odd;    // by group: a row that the others, or any m, disagree with; -1
  std::vector<std::int64_t> proof;  // by group: a row that counts in another unit than `odd`; -1
};

// `contract` has the contract of each group. m is 1, the lot size or another whole number that
// gives the value of every trade to the paisa; where prices are shown rounded, the one that fits
// them all.
Multipliers multipliers_of(const GroupPart& trades, std::span<const std::int32_t> contract);

}  // namespace tradingdata
