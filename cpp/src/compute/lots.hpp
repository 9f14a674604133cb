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
  // By row: whether a sale without a lot to close may open a short one.
  std::span<const std::uint8_t> may_short;
  std::int64_t counted_from = INT64_MIN;  // microseconds; what closes before is not reported
};

// A quantity of a lot that a trade closed; both are rows, the values exact.
struct Match {
  std::int64_t lot;
  std::int64_t trade;
  bool is_long;
  std::int64_t quantity;
  int128 lot_value;
  int128 trade_value;
};

// What is left of a row.
struct LotPart {
  std::int64_t row;
  bool is_long;
  std::int64_t quantity;
  int128 value;
};

struct Matching {
  std::vector<Match> matches;      // in the order in which they were closed
  std::vector<LotPart> unmatched;  // sales that neither closed a lot nor opened one
  std::vector<LotPart> open;       // by group, the long lots first, the oldest first
};

// Matches the trades in the order of `exch_trade_time`; those of equal times keep their order.
// Requires a side, a quantity of at least 1, a value and, but for opening lots, a time in each row.
Matching match_lots(const GroupPart& trades, const MatchingRules& rules);

// The multiplier of each group that its trades prove: 1 or the lot size, whichever their value,
// quantity and price agree with; 0 where none does. Two trades of a group that prove different ones
// are a conflict.
struct Multipliers {
  std::vector<std::int64_t> by_group;
  std::int64_t conflict = -1;  // a row, which disagrees with `proof`
  std::int64_t proof = -1;
  std::int64_t conflicting = 0;  // what the conflicting row proves
};
Multipliers multipliers_of(const GroupPart& trades);

}  // namespace tradingdata
