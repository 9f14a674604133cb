// Which order of one book is which of another.
#pragma once

#include <cstdint>
#include <vector>

#include "table/row_selection.hpp"

namespace tradingdata::detail {

struct OrderPair {
  std::int64_t row;
  std::int64_t previous;        // -1: the order is new
  std::int64_t occurrence = 0;  // among the orders of its key
};

struct OrderMatch {
  std::vector<OrderPair> pairs;    // one for each of the orders
  std::vector<std::int64_t> gone;  // rows of the previous ones that no order matches
};

OrderMatch match_orders(const Slice& orders, const Slice& previous);

}  // namespace tradingdata::detail
