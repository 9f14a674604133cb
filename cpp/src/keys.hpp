// Keys: which one is expected next, and what any other one means.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simd.hpp"
#include "tradingdata/schema.hpp"
#include "tradingdata/table.hpp"

namespace tradingdata::detail {

// The fields of a schema by name.
class FieldIndex {
 public:
  explicit FieldIndex(const Schema& schema);
  int find(std::string_view name) const {
    const int field = slots_[slot_of(name)];
    if (field >= 0 && schema_->fields[static_cast<std::size_t>(field)].name == name) return field;
    return field < 0 ? -1 : find_collided(name);
  }

 private:
  static constexpr std::size_t slot_count = 1024;
  static std::size_t slot_of(std::string_view name);
  int find_collided(std::string_view name) const;

  const Schema* schema_;
  std::array<std::int16_t, slot_count> slots_;
};

const FieldIndex& field_index(const Schema& schema);

// What a key stands for: a field of the schema, or a field that only the wire knows.
struct KeyMeaning {
  int field = -1;
  std::int32_t extra = -1;
};

// A key as it stood in the first record, quotes included; compared before any look-up.
struct ExpectedKey {
  static constexpr int longest = 32;
  char quoted[longest] = {};
  std::uint32_t mask = 0;
  int length = 0;
  KeyMeaning meaning;

  bool matches(const char* at) const { return same_bytes(at, quoted, mask); }
};

// The order of keys, learned from the first record.
class KeyOrder {
 public:
  KeyOrder(const Schema& schema, Table& table) : index_(field_index(schema)), table_(table) {}

  void begin_record() { next_ = 0; }

  // The key expected now, or nullptr; `accept` once it was found to stand there.
  const ExpectedKey* expected() const {
    return next_ < keys_.size() ? &keys_[next_] : nullptr;
  }
  void accept() { ++next_; }

  // Looks a key up that was not the expected one, and goes on from where it stands in the order.
  KeyMeaning look_up(std::string_view name);
  // Adds a key of the first record to the order, as it stands there, quotes included.
  void learn(std::string_view quoted, const KeyMeaning& meaning);

 private:
  static constexpr std::size_t most_learned = 256;  // a look-up searches them

  const FieldIndex& index_;
  Table& table_;
  std::vector<ExpectedKey> keys_;
  std::unordered_map<std::string, std::int32_t> extras_;
  std::size_t next_ = 0;
};

}  // namespace tradingdata::detail
