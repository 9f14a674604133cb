#include "table/order_keys.hpp"

#include <array>
#include <bit>

#include "table/records.hpp"
#include "table/row_values.hpp"

namespace tradingdata::detail {

namespace {

// Numbers of two exchanges or segments may collide, and the legs of an order share its number.
constexpr std::array order_key{order_schema["exchange"], order_schema["segment"],
                               order_schema["order_no"], order_schema["leg_no"]};

bool same_key(const Table& a, std::int64_t row_a, const Table& b, std::int64_t row_b) {
  for (const int field : order_key) {
    if (!same_value(a, row_a, b, row_b, field)) return false;
  }
  return true;
}

// The previous orders by key, in open addressing: those of one key are handed out one by one.
class ByKey {
 public:
  explicit ByKey(const Slice& orders)
      : table_(*orders.table),
        start_(orders.start),
        slots_(std::bit_ceil(static_cast<std::size_t>(orders.stop - orders.start) * 2 + 1)),
        followers_(static_cast<std::size_t>(orders.stop - orders.start), none),
        seed_(reinterpret_cast<std::uintptr_t>(slots_.data())) {
    for (std::int64_t row = orders.start; row < orders.stop; ++row) add(row);
  }

  OrderPair take(const Table& table, std::int64_t row) {
    Slot& slot = find(table, row);
    OrderPair pair{.row = row, .previous = slot.next, .occurrence = slot.taken};
    if (slot.next != none) slot.next = followers_[place(slot.next)];
    if (slot.first != none) ++slot.taken;
    return pair;
  }

  // What was not taken, in the order of the book.
  std::vector<std::int64_t> left() const {
    std::vector<char> here(followers_.size());
    for (const Slot& slot : slots_) {
      for (std::int64_t row = slot.next; row != none; row = followers_[place(row)]) {
        here[place(row)] = 1;
      }
    }
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < here.size(); ++i) {
      if (here[i] != 0) rows.push_back(start_ + static_cast<std::int64_t>(i));
    }
    return rows;
  }

 private:
  static constexpr std::int64_t none = -1;

  struct Slot {
    std::int64_t first = none;  // says which key this is
    std::int64_t next = none;
    std::int64_t last = none;
    std::int64_t taken = 0;
  };

  std::size_t place(std::int64_t row) const { return static_cast<std::size_t>(row - start_); }

  Slot& find(const Table& table, std::int64_t row) {
    std::uint64_t hash = seed_;  // differs from run to run: no body can be made to collide
    for (const int field : order_key) hash = mixed(hash, hash_value(table, field, row));
    for (std::size_t i = hash;; ++i) {
      Slot& slot = slots_[i & (slots_.size() - 1)];
      if (slot.first == none || same_key(table_, slot.first, table, row)) return slot;
    }
  }

  void add(std::int64_t row) {
    Slot& slot = find(table_, row);
    if (slot.first == none) {
      slot.first = slot.next = row;
    } else {
      followers_[place(slot.last)] = row;
    }
    slot.last = row;
  }

  const Table& table_;
  std::int64_t start_;
  std::vector<Slot> slots_;
  std::vector<std::int64_t> followers_;  // the next row of the same key
  std::uint64_t seed_;
};

}  // namespace

OrderMatch match_orders(const Slice& orders, const Slice& previous) {
  ByKey by_key(previous);
  OrderMatch match;
  match.pairs.reserve(static_cast<std::size_t>(orders.stop - orders.start));
  for (std::int64_t row = orders.start; row < orders.stop; ++row) {
    match.pairs.push_back(by_key.take(*orders.table, row));
  }
  match.gone = by_key.left();
  return match;
}

}  // namespace tradingdata::detail
