// Differences between two books of orders: which are new, which changed and in which fields, which
// are gone. Orders are matched by exchange, segment, number and leg, equal keys by their
// occurrence.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "table/row_selection.hpp"

namespace tradingdata {

enum class ChangeKind : std::uint8_t { added, changed, gone };

constexpr std::string_view name_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::added: return "new";
    case ChangeKind::changed: return "changed";
    case ChangeKind::gone: return "gone";
  }
  return "unknown";
}

struct OrderChange {
  ChangeKind kind;
  std::int64_t row;       // in the table of the orders; -1 of one that is gone
  std::int64_t previous;  // in the table of the previous ones; -1 of a new one
  // Names of the changed fields in the record's order, then unknown ones; they point into the
  // tables.
  std::vector<std::string_view> fields = {};
};

// An order that was updated before its previous state was: mostly an outdated response.
struct OlderOrder {
  std::int64_t row;
  std::int64_t previous;
  std::int64_t occurrence;  // among the orders of its key, from 0
};

struct OrderDiff {
  std::vector<OrderChange> changes;  // in the order of the book, then those that are gone
  std::vector<OlderOrder> older;
};

// Values count, time stamps do not, nor do the fields that `ignore` names. Unknown fields count as
// they were sent. Account numbers of which only one is masked are compared masked. Throws
// std::invalid_argument where the slices are not of orders. `on_slice` is called every few hundred
// orders, and ends the comparison by throwing.
OrderDiff diff_orders(
    const Slice& orders, const Slice& previous, std::span<const std::string> ignore,
    const std::function<void()>& on_slice = [] {});

}  // namespace tradingdata
