// Perfect hash tables of the field names, computed at compile time.
#include "table/field_index.hpp"

#include "table/records.hpp"

namespace tradingdata::detail {

namespace {

// Constants rather than lazily initialised: a process that forks while another thread initialises
// one leaves the child with a guard that is never released.
constexpr std::array<FieldIndex, record_schemas.size()> indexes{
    FieldIndex(trade_schema), FieldIndex(order_schema), FieldIndex(stock_schema)};

static_assert(std::ranges::all_of(record_schemas, [](const Schema* schema) {
  return schema->width() <= FieldSet::capacity;
}));

}  // namespace

const FieldIndex& field_index(const Schema& schema) {
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
