// The keys of records: fields by their names, and the order in which a body has them.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/simd.hpp"
#include "decode/json.hpp"
#include "decode/pan_mask.hpp"
#include "table/schema.hpp"
#include "table/table.hpp"

namespace tradingdata::detail {

// Some of the fields of a record.
using FieldSet = std::bitset<128>;

// Those that a record may have: all, or those that are sent. Throws where there are more.
FieldSet fields_read(const Schema& schema, bool with_local);

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
// is looked up.
class KeyOrder {
 public:
  KeyOrder(const Schema& schema, TableBuilder& table, PanMask& mask, bool with_local);

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
  // Learns from a record, which is known to be valid.
  void learn(const Document& body, const char* record, int depth);

 private:
  static constexpr std::int64_t most_keys = 256;

  int field_of(std::string_view key) const;

  const Schema& schema_;
  bool with_local_;
  TableBuilder& table_;
  PanMask& mask_;
  Order order_;
  std::int64_t keys_ = -1;  // of the widest record
  std::string scratch_;
};

}  // namespace tradingdata::detail
