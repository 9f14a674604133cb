// Perfect hash tables of the field names, computed at compile time.
#include "table/field_index.hpp"

#include <utility>

#include "table/records.hpp"

namespace tradingdata::detail {

namespace {

template <std::size_t... Position>
constexpr auto indexes_of(std::index_sequence<Position...>) {
  return std::array{FieldIndex(*record_schemas[Position])...};
}

// Constants rather than lazily initialised: a process that forks while another thread initialises
// one leaves the child with a guard that is never released.
constexpr auto indexes = indexes_of(std::make_index_sequence<record_schemas.size()>());

static_assert(std::ranges::all_of(record_schemas, [](const Schema* schema) {
  return schema->width() <= FieldSet::capacity;
}));

}  // namespace

const FieldIndex* field_index(const Schema& schema) {
  for (std::size_t i = 0; i < record_schemas.size(); ++i) {
    if (record_schemas[i] == &schema) return &indexes[i];
  }
  return nullptr;
}

FieldSet FieldSet::all(const Schema& schema) {
  if (schema.width() > capacity) {
    throw std::invalid_argument("JSON cannot be decoded into more than 128 columns");
  }
  FieldSet fields;
  for (int field = 0; field < schema.width(); ++field) fields.add(field);
  return fields;
}

}  // namespace tradingdata::detail
