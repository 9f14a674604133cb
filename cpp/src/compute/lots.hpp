// Lots of trades: first-in-first-out matching as a fold over time, and the multiplier of a
// contract.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compute/groups.hpp"
#include "compute/moments.hpp"

namespace tradingdata {

struct FoldRules {
  std::string buy;           // the txn_type of a purchase; any other code is a sale
  int decimals = 2;          // of the unit of all values
  std::int64_t opening = 0;  // the first rows are lots, which `put` opens
  // By key: whether a sale without a lot to close may open a short one; other keys may.
  std::vector<std::uint8_t> may_short;
  std::vector<std::int32_t> origin;  // by row: see `in_time`
};

// A lot, and what is left of it.
struct Lot {
  std::int64_t row;
  std::int32_t key;
  bool is_long;
  std::int64_t time;   // its place in the queue; the least for a lot without a time
  std::int64_t since;  // the moment from which it is open
  std::int64_t quantity;
  int128 total;  // its value
  std::int64_t left = quantity;
  int128 value = total;    // of what is left
  std::int64_t order = 0;  // its place among lots that are as old

  // Takes a quantity and returns its share of the value. The shares add up to the value.
  int128 take(std::int64_t taken);
};

// A part of a lot that has ended. `by` is the row that closed it; -1: a change of lots, by which
// it realised nothing.
struct Part {
  std::int64_t lot;
  std::int64_t by;
  std::int64_t quantity;
  int128 value;
  int128 closed_for;  // the value for which it was closed
  std::int64_t until;
};

// A sale, or what was left of one, that closed no lot and was not allowed to open one.
struct Unmatched {
  std::int64_t row;
  std::int32_t key;
  std::int64_t quantity;
  int128 value;
  std::int64_t time;
};

// What a lot has open at a moment.
struct OpenPart {
  std::int64_t lot;
  std::int64_t row;
  std::int32_t key;
  bool is_long;
  std::int64_t time;
  std::int64_t quantity;
  int128 value;
};

struct Match {
  std::int64_t lot;  // its row
  std::int64_t trade;
  bool is_long;
  std::int64_t quantity;
  int128 lot_value;
  int128 trade_value;

  int128 cost() const { return is_long ? lot_value : trade_value; }
  int128 proceeds() const { return is_long ? trade_value : lot_value; }
};

// The sums of a key between two moments.
struct LotTotals {
  int128 quantity = 0;  // of what was closed
  int128 cost = 0;
  int128 proceeds = 0;
  int128 unmatched = 0;
  int128 unmatched_value = 0;
  int128 open = 0;  // at the end; negative if it is short
  int128 open_value = 0;
};

// What a key opened, less what it closed, in one of several spans of time, and what it realised.
struct Step {
  std::int32_t key;
  std::int64_t span;
  int128 quantity = 0;
  int128 value = 0;
  int128 realised = 0;
};

// The rows of a key that are known at a moment; -1: none.
struct KeyRows {
  std::int64_t first = -1;
  std::int64_t last = -1;
};

// A fold of trades, in their order in time (`in_time`), over queues of lots by key. `run` goes on
// until a moment, at which lots may be put or taken, or closed by what is no trade. The result is a
// journal of parts, which is read between any two moments.
//
// Requires a side, a quantity of at least 1, a value and, but for opening lots, a time in each row.
class LotFold {
 public:
  LotFold(const GroupPart& trades, FoldRules rules);

  // Goes on with all trades before a moment.
  void run(std::int64_t until);
  // Opens a lot after the lots of its key that are as old, or in the place of one of that key which
  // it was (-1: none). A key must have lots of one side only.
  void put(Lot lot, std::int64_t was);
  // Closes a quantity of the oldest lots of a key, for a value, by a row that is no trade.
  void close(std::int64_t row, std::int32_t key, std::int64_t quantity, int128 value,
             std::int64_t at);
  // Realises a part of a lot's value without a quantity, by a row that is no trade.
  void pay(std::int64_t lot, std::int64_t row, int128 value, int128 paid_for, std::int64_t at);
  // Ends what is left of a lot, without realising anything.
  void end(std::int64_t lot, std::int64_t at);
  // Whether a key holds long lots (1), short ones (-1) or none.
  int side(std::int32_t key) const;

  // What is open now, or was at a moment, by key, the oldest first.
  std::vector<OpenPart> open() const;
  std::vector<OpenPart> held(std::int32_t key) const;
  std::vector<OpenPart> open(std::int64_t at) const;
  std::vector<Match> matches(std::int64_t start, std::int64_t stop) const;
  std::vector<Unmatched> unmatched(std::int64_t start, std::int64_t stop) const;
  std::vector<LotTotals> totals(std::int64_t start, std::int64_t stop) const;
  // Spans begin with the first moment, and each at another; the first is before all moments.
  std::vector<Step> steps(const std::vector<std::int64_t>& starts) const;
  // By key, what is known before a moment. The last row is the last trade, unless a later lot is.
  std::vector<KeyRows> rows(std::int64_t before) const;
  // The time of the last trade before a moment; the least if there is none.
  std::int64_t last_time(std::int64_t before) const;
  // Rows of both sides in a second whose order is not known.
  const std::vector<std::int64_t>& undecided() const { return order_.undecided; }

 private:
  struct Queue {
    std::vector<std::int64_t> lots;
    std::size_t next = 0;

    bool empty() const { return next == lots.size(); }
    void tidy();
  };

  // What was open at a moment, in no order.
  std::vector<OpenPart> parts_at(std::int64_t moment) const;
  // Closes lots of the other side, the oldest first.
  void close_lots(Lot& closing, Queue& queue);
  void trade(std::int64_t row);
  Queue& queue(std::int32_t key);
  std::size_t keys() const { return queues_.size(); }

  FoldRules rules_;
  std::vector<std::int32_t> key_;  // by row
  std::vector<std::int64_t> quantities_;
  std::vector<std::int64_t> times_;
  std::vector<int128> values_;
  std::vector<bool> bought_;
  TradeOrder order_;
  std::size_t next_ = 0;  // in the order
  std::vector<Queue> queues_;
  std::vector<Lot> lots_;
  std::vector<Part> parts_;  // in the order in which they ended
  std::vector<Unmatched> unmatched_;
};

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
