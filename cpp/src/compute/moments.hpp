// The order of trades in time. Times are sent to the second, so trades of one second are in the
// direction of their response, whose rows may begin with the newest.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compute/groups.hpp"

namespace tradingdata {

struct TradeOrder {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> undecided;  // of both sides in one group and second
};

// The rows from `begin` up to `end` by `exch_trade_time`. Those of one second are in the order of
// `row_no` or of `trade_no` as a number, whichever runs with the times, or against them: among the
// trades of an account, client and day, or of one exchange and segment of these. Trades of one time
// only are in the order of `trade_no`, or `row_no`. Both are the same however a book was sorted or
// joined; the place of a row is not, so what only places order is undecided. Each row must have a
// time, and each group one account, client, exchange and segment. `origin`, if not empty, has the
// number of the exchange and segment where each row was traded, of rows that are shown under those
// of others.
TradeOrder in_time(const GroupPart& trades, std::int64_t begin, std::int64_t end,
                   std::string_view buy, std::span<const std::int32_t> origin = {});

}  // namespace tradingdata
