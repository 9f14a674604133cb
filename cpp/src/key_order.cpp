#include "key_order.hpp"

#include <algorithm>

#include "pairs.hpp"

namespace tradingdata::detail {

namespace {

std::uint32_t low_bits(std::int64_t count) {
  return count >= 32 ? ~0u : (1u << std::max<std::int64_t>(count, 0)) - 1;
}

}  // namespace

KeyOrder::KeyOrder(const Schema& schema, Table& table)
    : index_(field_index(schema)),
      table_(table),
      of_field_(static_cast<std::size_t>(schema.width()), -1) {}

KeyMeaning KeyOrder::look_up(const char* from, const StringScan& scan) {
  std::string_view name(from, static_cast<std::size_t>(scan.end - from));
  if (scan.escaped) name = scratch_ = unescaped(from, scan.end);
  KeyMeaning meaning{.field = index_.find(name)};
  if (meaning.field < 0) meaning.extra = table_.extra_name(name);
  return meaning;
}

const Step* KeyOrder::behind(const KeyMeaning& meaning, const Step* step) const {
  const bool known = meaning.field >= 0;
  const std::vector<int>& positions = known ? of_field_ : of_extra_;
  const auto place = static_cast<std::size_t>(known ? meaning.field : meaning.extra);
  const int found = place < positions.size() ? positions[place] : -1;
  if (found >= 0) return begin() + found + 1;
  // The first step has the record's brace in it, which must not pass for a comma further on.
  return step == begin() && step != end() ? step + 1 : step;
}

void KeyOrder::learn(const Document& body, const char* record, int depth) {
  steps_.clear();
  fields_ = {};
  std::fill(of_field_.begin(), of_field_.end(), -1);
  of_extra_.clear();
  keys_ = 0;
  visit_pairs(body, record, depth, [this](const Pair& pair) {
    if (keys_ == most_keys) return false;
    ++keys_;
    add({pair.from, static_cast<std::size_t>(pair.value - pair.from)},
        look_up(pair.key + 1, pair.scan));
    return true;
  });
}

void KeyOrder::add(std::string_view text, const KeyMeaning& meaning) {
  const bool known = meaning.field >= 0;
  std::vector<int>& positions = known ? of_field_ : of_extra_;
  const auto place = static_cast<std::size_t>(known ? meaning.field : meaning.extra);
  if (place >= positions.size()) positions.resize(place + 1, -1);
  if (text.size() > Step::longest || positions[place] >= 0) return;
  positions[place] = static_cast<int>(steps_.size());
  Step step{
      .length = static_cast<std::int64_t>(text.size()), .meaning = meaning, .before = fields_};
  text.copy(step.text, text.size());
  step.first_half = low_bits(step.length);
  step.second_half = low_bits(step.length - 32);
  steps_.push_back(step);
  if (known) fields_.add(meaning.field);
}

}  // namespace tradingdata::detail
