// The keys of records: fields by their names, and the order in which a body has them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/simd.hpp"
#include "decode/json.hpp"
#include "decode/pan_mask.hpp"
#include "table/schema.hpp"
#include "table/table.hpp"

namespace tradingdata::detail {

// A hash table in which each field has a slot of its own.
class FieldIndex {
 public:
  // Throws where the names cannot be separated: for the service's records, while this is compiled.
  explicit constexpr FieldIndex(const Schema& schema) : schema_(&schema) {
    constexpr int most_tries = 10'000;
    for (int tries = 0; !fill(); ++tries) {
      if (tries == most_tries) throw std::logic_error("no perfect hash of a record's names found");
      multiplier_ = multiplier_ * 6364136223846793005 | 1;
    }
  }

  // The field's position, or -1.
  int find(std::string_view name) const {
    const int field = slots_[slot_of(name)];
    if (field < 0) return -1;
    return schema_->field(field).name == name ? field : -1;
  }

 private:
  static constexpr std::size_t slot_count = 1024;

  // Gives each field its slot; false where two share one.
  constexpr bool fill() {
    slots_.fill(-1);
    for (int i = 0; i < schema_->width(); ++i) {
      std::int16_t& slot = slots_[slot_of(schema_->field(i).name)];
      if (slot >= 0) return false;
      slot = static_cast<std::int16_t>(i);
    }
    return true;
  }

  constexpr std::size_t slot_of(std::string_view name) const {
    std::uint64_t word = name.size();
    std::size_t i = 0;
    for (std::array<char, 8> part; i + part.size() <= name.size(); i += part.size()) {
      std::copy_n(name.data() + i, part.size(), part.begin());  // compiles to one load
      word = (word ^ std::bit_cast<std::uint64_t>(part)) * multiplier_;
    }
    std::uint64_t rest = 0;
    for (; i < name.size(); ++i) rest = rest << 8 | static_cast<unsigned char>(name[i]);
    return static_cast<std::size_t>((word ^ rest) * multiplier_ >> 54);
  }

  const Schema* schema_;
  std::uint64_t multiplier_ = 0x9E3779B97F4A7C15;
  std::array<std::int16_t, slot_count> slots_{};
};

// The index of one of the service's records; nullptr for any other.
const FieldIndex* field_index(const Schema& schema);

// Some of the fields of a record.
using FieldSet = std::bitset<128>;

FieldSet all_fields(const Schema& schema);  // throws where there are more

// The meaning of a key: a field of the schema, or one that only the wire knows.
struct KeyMeaning {
  int field = -1;
  std::int32_t extra = -1;  // of Table::extra_names, where there is no such field
};

// A key and all text before its value.
struct Step {
  static constexpr int longest = 64;

  alignas(16) char text[longest] = {};
  std::uint32_t first_half = 0;  // a bit for each byte of the text
  std::uint32_t second_half = 0;
  std::int64_t length = 0;
  KeyMeaning meaning;
  FieldSet before;  // the fields of the steps before this one

  bool matches(const char* at) const {
    return same_bytes(at, text, first_half) &&
           (second_half == 0 || same_bytes(at + 32, text + 32, second_half));
  }
};

// What was learned from a record.
struct Order {
  std::vector<Step> steps;
  FieldSet fields;            // of all steps
  std::vector<int> of_field;  // the step of each field, or -1
  std::vector<int> of_extra;

  void add(std::string_view text, const KeyMeaning& meaning);
};

// The order of the keys in the records of a body, learned from one of them. The text between two
// values (space, comma, key and colon) is then predicted as one unit, and compared before anything
// is looked up. A thread's next body of such records starts with the order learned last: services
// keep their order, and a small body would be half read before anything was learned from it.
class KeyOrder {
 public:
  KeyOrder(const Schema& schema, TableBuilder& table, PanMask& mask);
  ~KeyOrder();
  KeyOrder(const KeyOrder&) = delete;
  KeyOrder& operator=(const KeyOrder&) = delete;

  const Step* begin() const { return order_.steps.data(); }
  const Step* end() const { return order_.steps.data() + order_.steps.size(); }
  // The fields of the steps from `first` up to `last`.
  FieldSet fields_of(const Step* first, const Step* last) const {
    return (last != end() ? last->before : order_.fields) & ~first->before;
  }

  // The meaning of the key that `scan` found, quoted text from `from` on. An unknown one loses the
  // tokens in it.
  KeyMeaning look_up(const char* from, const StringScan& scan);
  // The step to expect after a key that was not predicted; `step` was expected.
  const Step* behind(const KeyMeaning& meaning, const Step* step) const;

  // Whether a record of `keys` keys is wider than those before it in this body.
  bool is_wider(std::int64_t keys) const { return keys > keys_ && keys_ < most_keys; }
  void widen(std::int64_t keys) { keys_ = keys; }
  // Learns from a record, which is known to be valid. If this throws, what was learned before is
  // kept: the thread's next body starts with it.
  void learn(const Document& body, const char* record, int depth);

 private:
  static constexpr std::int64_t most_keys = 256;

  const Schema& schema_;
  std::optional<FieldIndex> own_index_;  // of a schema that was made at run time
  const FieldIndex& index_;
  TableBuilder& table_;
  PanMask& mask_;
  Order order_;
  std::int64_t keys_ = -1;  // of the widest record
  std::string scratch_;
};

}  // namespace tradingdata::detail
