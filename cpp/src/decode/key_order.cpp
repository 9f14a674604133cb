// Learns the order of keys from a record.
#include "decode/key_order.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "table/records.hpp"

namespace tradingdata::detail {

namespace {

static_assert(std::ranges::all_of(record_schemas, [](const Schema* schema) {
  return schema->fields.size() <= FieldSet().size() &&
         std::ranges::none_of(schema->fields.first(static_cast<std::size_t>(schema->sent())),
                              &Field::local);
}));

}  // namespace

FieldSet fields_read(const Schema& schema, bool with_local) {
  FieldSet fields;
  const auto count = static_cast<std::size_t>(with_local ? schema.width() : schema.sent());
  if (count > fields.size()) {
    throw std::invalid_argument("JSON cannot be decoded into more than 128 columns");
  }
  return ~fields >> (fields.size() - count);
}

namespace {

std::uint32_t low_bits(std::int64_t count) {
  return count >= 32 ? ~0u : (1u << std::max<std::int64_t>(count, 0)) - 1;
}

}  // namespace

void Order::add(std::string_view text, const KeyMeaning& meaning) {
  const bool known = meaning.field >= 0;
  std::vector<int>& positions = known ? of_field : of_extra;
  const auto place = static_cast<std::size_t>(known ? meaning.field : meaning.extra);
  if (place >= positions.size()) positions.resize(place + 1, -1);
  if (text.size() > Step::longest || positions[place] >= 0) return;
  Step step{.length = static_cast<std::int64_t>(text.size()), .meaning = meaning, .before = fields};
  text.copy(step.text, text.size());
  step.first_half = low_bits(step.length);
  step.second_half = low_bits(step.length - 32);
  steps.push_back(step);
  positions[place] = static_cast<int>(steps.size()) - 1;
  if (known) fields.set(place);
}

KeyOrder::KeyOrder(const Schema& schema, TableBuilder& table, PanMask& mask, bool with_local)
    : schema_(schema), with_local_(with_local), table_(table), mask_(mask) {
  order_.of_field.resize(static_cast<std::size_t>(schema.width()), -1);
}

int KeyOrder::field_of(std::string_view key) const {
  if (!with_local_ || !key.starts_with(local_prefix)) return schema_.find_sent(key);
  const int field = schema_.find(key.substr(local_prefix.size()));
  return field >= schema_.sent() ? field : -1;
}

KeyMeaning KeyOrder::look_up(const char* from, const StringScan& scan) {
  std::string_view name(from, static_cast<std::size_t>(scan.end - from));
  if (scan.escaped) name = scratch_ = unescaped(from, scan.end);
  KeyMeaning meaning{.field = field_of(name)};
  if (meaning.field >= 0) return meaning;
  if (mask_.hide_tokens_in_text(from, scan.end)) name = scratch_ = unescaped(from, scan.end);
  meaning.extra = table_.extra_name(name);
  return meaning;
}

const Step* KeyOrder::behind(const KeyMeaning& meaning, const Step* step) const {
  const bool known = meaning.field >= 0;
  const std::vector<int>& positions = known ? order_.of_field : order_.of_extra;
  const auto place = static_cast<std::size_t>(known ? meaning.field : meaning.extra);
  const int found = place < positions.size() ? positions[place] : -1;
  if (found >= 0) return begin() + found + 1;
  // The first step contains the record's brace, which must not match a comma further on.
  return step == begin() && step != end() ? step + 1 : step;
}

void KeyOrder::learn(const Document& body, const char* record, int depth) {
  Order learned;
  learned.of_field.resize(order_.of_field.size(), -1);
  std::int64_t keys = 0;
  visit_pairs(body, record, depth, [&](const Pair& pair) {
    learned.add({pair.from, static_cast<std::size_t>(pair.value - pair.from)},
                look_up(pair.key + 1, pair.scan));
    return ++keys < most_keys;
  });
  order_ = std::move(learned);
}

}  // namespace tradingdata::detail
