// Rows chosen by conditions and sorted by fields, each as a new table.
#include <pybind11/stl.h>

#include <string>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "exports.hpp"
#include "field_values.hpp"
#include "released_gil.hpp"
#include "slice.hpp"
#include "table/row_filter.hpp"
#include "table/row_order.hpp"
#include "table/row_selection.hpp"

namespace tradingdata::python {

namespace {

// Field, relation, part of a timestamp, whether a missing value is wanted, the wanted values.
using ConditionTuple = std::tuple<std::string, std::string, std::string, bool, py::list>;

Relation relation_named(const std::string& name) {
  if (name == "eq") return Relation::equal;
  if (name == "ne") return Relation::not_equal;
  if (name == "lt") return Relation::less;
  if (name == "le") return Relation::less_equal;
  if (name == "gt") return Relation::greater;
  if (name == "ge") return Relation::greater_equal;
  throw py::value_error("there is no relation " + name);
}

TimePart part_named(const std::string& name) {
  if (name == "all") return TimePart::all;
  if (name == "day") return TimePart::day;
  if (name == "clock") return TimePart::clock;
  throw py::value_error("there is no part " + name);
}

std::int64_t integer_for(const Field& field, TimePart part, PyObject* value) {
  if (field.kind == Kind::date || part == TimePart::day) return date_of(field, value);
  const bool moment = field.kind == Kind::timestamp && part == TimePart::all;
  return moment ? micros_of(field, value) : integer_of(field, value);
}

Condition condition_of(const Table& table, const ConditionTuple& given) {
  const auto& [name, relation, part, null_wanted, values] = given;
  Condition condition{.field = field_named(table, name),
                      .relation = relation_named(relation),
                      .part = part_named(part),
                      .null_wanted = null_wanted};
  const bool is_order =
      condition.relation != Relation::equal && condition.relation != Relation::not_equal;
  if (is_order && values.size() != 1) throw py::value_error("an order takes one value");
  const Field& field = table.schema().field(condition.field);
  const auto converted = [&](const auto& convert) {
    std::vector<decltype(convert(values.ptr()))> result;
    for (const py::handle& value : values) result.push_back(convert(value.ptr()));
    return result;
  };
  switch (field.kind) {
    case Kind::text:
      condition.wanted =
          converted([&](PyObject* value) { return std::string(text_of(field, value)); });
      break;
    case Kind::number:
      condition.wanted = converted([&](PyObject* value) { return number_of(field, value); });
      break;
    default:
      condition.wanted =
          converted([&](PyObject* value) { return integer_for(field, condition.part, value); });
  }
  return condition;
}

// A new table of the rows that `choose` gives. Tables are immutable, and `self` is held.
template <typename Choose>
py::object chosen(const OwnedSlice& self, const Choose& choose) {
  TablePtr made;
  {
    const ReleasedGil released;
    made = gather(self.table(), choose());
  }
  return whole_slice(std::move(made), self.zone());
}

py::object where(const OwnedSlice& self, const std::vector<ConditionTuple>& given) {
  const Table& table = self.table();
  std::vector<Condition> conditions;
  for (const ConditionTuple& one : given) conditions.push_back(condition_of(table, one));
  return chosen(self, [&] { return rows_where(table, self.start(), self.stop(), conditions); });
}

py::object sorted(const OwnedSlice& self, const std::vector<std::tuple<std::string, bool>>& given) {
  const Table& table = self.table();
  std::vector<SortKey> keys;
  for (const auto& [name, descending] : given) {
    keys.push_back({.field = field_named(table, name), .descending = descending});
  }
  return chosen(self, [&] { return sorted_rows(table, self.start(), self.stop(), keys); });
}

}  // namespace

void bind_selection(py::module_& module) {
  slice_class(module)
      .def("where", &where, py::arg("conditions"))
      .def("sorted", &sorted, py::arg("keys"));
}

}  // namespace tradingdata::python
