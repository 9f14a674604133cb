#include "field_index.hpp"

#include <stdexcept>

#include "tradingdata/records.hpp"

namespace tradingdata::detail {

std::size_t FieldIndex::slot_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return (hash ^ hash >> 15) % slot_count;
}

FieldIndex::FieldIndex(const Schema& schema) : schema_(&schema) {
  if (schema.width() > FieldSet::capacity) throw std::length_error("a record of too many fields");
  slots_.fill(-1);
  for (int i = 0; i < schema.width(); ++i) {
    std::int16_t& slot = slots_[slot_of(schema.fields[static_cast<std::size_t>(i)].name)];
    if (slot < 0) slot = static_cast<std::int16_t>(i);
  }
}

const FieldIndex& field_index(const Schema& schema) {
  static const std::array indexes{FieldIndex(trade_schema), FieldIndex(order_schema),
                                  FieldIndex(stock_schema)};
  for (std::size_t i = 0; i < record_schemas.size(); ++i) {
    if (record_schemas[i] == &schema) return indexes[i];
  }
  throw std::invalid_argument("not one of the service's records");
}

FieldSet FieldSet::all(const Schema& schema) {
  FieldSet fields;
  for (int field = 0; field < schema.width(); ++field) fields.add(field);
  return fields;
}

}  // namespace tradingdata::detail
