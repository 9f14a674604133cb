#include "keys.hpp"

#include <algorithm>
#include <stdexcept>

#include "tradingdata/records.hpp"

namespace tradingdata::detail {

std::size_t FieldIndex::slot_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return (hash ^ hash >> 15) % slot_count;
}

FieldIndex::FieldIndex(const Schema& schema) : schema_(&schema) {
  slots_.fill(-1);
  for (int i = 0; i < schema.width(); ++i) {
    std::int16_t& slot = slots_[slot_of(schema.fields[static_cast<std::size_t>(i)].name)];
    if (slot < 0) slot = static_cast<std::int16_t>(i);
  }
}

int FieldIndex::find_collided(std::string_view name) const { return schema_->find(name); }

const FieldIndex& field_index(const Schema& schema) {
  static const std::array indexes{FieldIndex(trade_schema), FieldIndex(order_schema),
                                  FieldIndex(stock_schema)};
  for (std::size_t i = 0; i < record_schemas.size(); ++i) {
    if (record_schemas[i] == &schema) return indexes[i];
  }
  throw std::invalid_argument("not one of the service's records");
}

KeyMeaning KeyOrder::look_up(std::string_view name) {
  KeyMeaning meaning{.field = index_.find(name)};
  if (meaning.field < 0) {
    const auto [entry, fresh] = extras_.try_emplace(std::string(name), 0);
    if (fresh) {
      entry->second = static_cast<std::int32_t>(table_.extra_names.size());
      table_.extra_names.emplace_back(name);
    }
    meaning.extra = entry->second;
  }
  const auto here = std::find_if(keys_.begin(), keys_.end(), [&](const ExpectedKey& key) {
    return key.meaning.field == meaning.field && key.meaning.extra == meaning.extra;
  });
  if (here != keys_.end()) next_ = static_cast<std::size_t>(here - keys_.begin()) + 1;
  return meaning;
}

void KeyOrder::learn(std::string_view quoted, const KeyMeaning& meaning) {
  if (quoted.size() > ExpectedKey::longest || keys_.size() >= most_learned) return;
  ExpectedKey key{.length = static_cast<int>(quoted.size()), .meaning = meaning};
  quoted.copy(key.quoted, quoted.size());
  key.mask = quoted.size() == ExpectedKey::longest ? ~0u : (1u << quoted.size()) - 1;
  keys_.push_back(key);
  next_ = keys_.size();
}

}  // namespace tradingdata::detail
