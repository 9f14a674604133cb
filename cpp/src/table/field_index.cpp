#include "table/field_index.hpp"

#include <stdexcept>

#include "table/records.hpp"

namespace tradingdata::detail {

FieldIndex::FieldIndex(const Schema& schema) : schema_(&schema) {
  if (schema.width() > FieldSet::capacity) throw std::length_error("a record of too many fields");
  constexpr int most_tries = 10'000;
  for (int tries = 0; !fill(); ++tries) {
    if (tries == most_tries) throw std::logic_error("the names of a record cannot be told apart");
    multiplier_ = multiplier_ * 6364136223846793005 | 1;
  }
}

// Gives each field its slot; false where two share one.
bool FieldIndex::fill() {
  slots_.fill(-1);
  for (int i = 0; i < schema_->width(); ++i) {
    std::int16_t& slot = slots_[slot_of(schema_->fields[static_cast<std::size_t>(i)].name)];
    if (slot >= 0) return false;
    slot = static_cast<std::int16_t>(i);
  }
  return true;
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
