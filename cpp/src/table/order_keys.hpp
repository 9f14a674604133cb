// Matches the orders of one book with those of another.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "table/row_selection.hpp"

namespace tradingdata::detail {

struct OrderPair {
  std::int64_t row;
  std::int64_t previous;  // -1: the order is new
};

struct OrderMatch {
  std::vector<OrderPair> pairs;    // one for each of the orders
  std::vector<std::int64_t> gone;  // rows of the previous ones that no order matches
};

// Equal keys are matched by their occurrence. `on_slice` is called every few hundred orders, and
// ends the matching by throwing.
OrderMatch match_orders(const Slice& orders, const Slice& previous,
                        const std::function<void()>& on_slice);

// For each order, how many before it have its key.
std::vector<std::int64_t> occurrences(const Slice& orders);

}  // namespace tradingdata::detail
