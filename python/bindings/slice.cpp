// The methods of a slice, and its sequence slots in C.
#include "slice.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <ranges>
#include <tuple>

#include "bindings.hpp"
#include "export/json.hpp"
#include "rows.hpp"
#include "table/rows.hpp"
#include "values.hpp"

namespace tradingdata::python {

int field_named(const Table& table, const std::string& name) {
  const int field = table.schema().find(name);
  if (field >= 0) return field;
  PyErr_SetObject(PyExc_KeyError, no_field(table.schema(), py::str(name)).ptr());
  throw py::error_already_set();
}

std::vector<int> columns_named(const Table& table, const Names& names) {
  std::vector<int> columns;
  for (const std::string& name : names) columns.push_back(field_named(table, name));
  return columns;
}

OwnedSlice::OwnedSlice(TablePtr table, py::object zone)
    : columns_(std::make_shared<Columns>(std::move(table), zone)),
      zone_(std::move(zone)),
      stop_(columns_->table().rows()) {}

OwnedSlice OwnedSlice::part(std::int64_t start, std::int64_t stop) const {
  OwnedSlice part = *this;
  part.start_ = start_ + start;
  part.stop_ = start_ + stop;
  return part;
}

Rows OwnedSlice::rows(const Names& columns) const {
  return {shared(), start_, stop_, columns_named(table(), columns), offset_of(zone_)};
}

py::object as_python(OwnedSlice slice) {
  const bool in_cycles = slice.columns().is_in_cycles();
  py::object made = py::cast(std::move(slice));
  if (!in_cycles) PyObject_GC_UnTrack(made.ptr());
  return made;
}

py::object whole_slice(TablePtr table, const py::object& zone) {
  return as_python(OwnedSlice(std::move(table), zone));
}

void require_rows(const OwnedSlice& slice, const std::vector<std::int64_t>& rows) {
  const auto unknown = [&](std::int64_t row) { return row < -1 || row >= slice.size(); };
  if (std::ranges::any_of(rows, unknown)) throw py::index_error("there is no such row");
}

py::object cells_of(const OwnedSlice& slice, const std::vector<std::int64_t>& rows, int field) {
  return list_from(rows, [&](std::int64_t row) {
    if (row < 0) return Py_NewRef(Py_None);
    return slice.columns().cell(field, slice.start() + row);
  });
}

namespace {

// Without a look at the types that pybind11 knows: every row is read through this.
const OwnedSlice& as_slice(PyObject* self) {
  auto* const instance = reinterpret_cast<py::detail::instance*>(self);
  return *instance->get_value_and_holder().value_ptr<OwnedSlice>();
}

py::object take(const OwnedSlice& self, std::vector<std::int64_t> rows) {
  for (std::int64_t& row : rows) {
    if (row < 0 || row >= self.size()) throw py::index_error("row out of range");
    row += self.start();
  }
  return whole_slice(released([&] { return gather(self.table(), rows); }), self.zone());
}

py::object rows_at(const OwnedSlice& self, PyObject* slice) {
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 0;
  if (or_park([&] { return PySlice_Unpack(slice, &start, &stop, &step); }) != 0) {
    throw py::error_already_set();
  }
  const Py_ssize_t count = PySlice_AdjustIndices(self.size(), &start, &stop, step);
  if (step == 1) return as_python(self.part(start, start + count));
  std::vector<std::int64_t> rows;
  for (Py_ssize_t i = 0; i < count; ++i) rows.push_back(start + i * step);
  return take(self, std::move(rows));
}

// The slots of a sequence are C functions, without pybind11's dispatch: reading a row costs little.
PyObject* slice_item(PyObject* self, Py_ssize_t row) {
  const OwnedSlice& slice = as_slice(self);
  if (row < 0 || row >= slice.size()) {
    PyErr_Format(PyExc_IndexError, "row %zd of a table of %zd", row,
                 static_cast<Py_ssize_t>(slice.size()));
    return nullptr;
  }
  return make_row(slice.columns().type(), self, &slice.columns(), slice.start() + row);
}

PyObject* slice_subscript(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    if (PySlice_Check(key)) return rows_at(as_slice(self), key).release().ptr();
    const Py_ssize_t given = or_park([&] { return PyNumber_AsSsize_t(key, PyExc_IndexError); });
    if (given == -1 && PyErr_Occurred() != nullptr) return nullptr;
    const Py_ssize_t row = given < 0 ? given + as_slice(self).size() : given;
    return slice_item(self, row < 0 ? given : row);
  });
}

Py_ssize_t slice_length(PyObject* self) {
  return as_slice(self).size();
}

// A time zone may refer to the book that it was given to.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (py::detail::is_holder_constructed(self)) Py_VISIT(as_slice(self).zone().ptr());
  return 0;
}

void set_slots(PyHeapTypeObject* type) {
  type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type->ht_type.tp_traverse = traverse;
  type->ht_type.tp_iter = PySeqIter_New;
  type->as_sequence.sq_item = slice_item;
  type->as_sequence.sq_length = slice_length;
  type->as_mapping.mp_length = slice_length;
  type->as_mapping.mp_subscript = slice_subscript;
}

bool same_slices(const OwnedSlice& self, const OwnedSlice& other) {
  return equal(self.zone(), other.zone()) && same_rows(self.view(), other.view());
}

py::list issues(const OwnedSlice& self) {
  py::list result;
  for (const Issue& issue : self.table().issues()) {
    const ProblemInfo info = describe(issue.problem);
    result.append(py::make_tuple(issue.field, info.text, issue.count, issue.row,
                                 shown_text(issue.raw), info.lost));
  }
  return result;
}

std::vector<std::string> extra_names(const OwnedSlice& self) {
  const Table& table = self.table();
  std::vector<char> present(table.extra_names().size());
  for (const Extra& extra : table.extras_of(self.start(), self.stop())) {
    present[static_cast<std::size_t>(extra.name)] = 1;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < present.size(); ++i) {
    if (present[i] != 0) names.push_back(table.extra_names()[i]);
  }
  return names;
}

// `record` is a type of rows with the fields of these and one more, which is text.
py::object with_extras_in_one(const OwnedSlice& self, const py::object& record) {
  const Schema& wider = *row_type_given(record).schema;
  const int width = self.table().schema().width();
  if (wider.width() != width + 1 || wider.field(width).kind != Kind::text) {
    throw py::value_error("the type must have one more field, which is text");
  }
  return whole_slice(released([&] { return with_extra_column(self.view(), wider); }), self.zone());
}

py::object with_zone(const OwnedSlice& self, const py::object& zone) {
  const std::int64_t start = self.start();
  return as_python(OwnedSlice(self.shared(), zone).part(start, start + self.size()));
}

py::object column_list(const OwnedSlice& slice, int field) {
  return list_from(std::views::iota(slice.start(), slice.stop()),
                   [&](std::int64_t row) { return slice.columns().cell(field, row); });
}

py::list cells(const OwnedSlice& self, const std::vector<std::int64_t>& rows, const Names& names) {
  require_rows(self, rows);
  py::list result;
  for (const std::string& name : names) {
    result.append(cells_of(self, rows, field_named(self.table(), name)));
  }
  return result;
}

// The first of the columns that lacks a value, and the first such row.
py::object missing(const OwnedSlice& self, const Names& names) {
  for (const std::string& name : names) {
    const Column& column = self.table().column(field_named(self.table(), name));
    if (column.nulls == 0) continue;
    for (std::int64_t row = 0; row < self.size(); ++row) {
      if (!column.valid(self.start() + row)) return py::make_tuple(name, row);
    }
  }
  return py::none();
}

py::object column(const OwnedSlice& self, const std::string& name) {
  return column_list(self, field_named(self.table(), name));
}

py::list to_dicts(const OwnedSlice& self, const Names& names, bool extra) {
  Columns& columns = self.columns();
  const Table& table = self.table();
  const RowType& type = columns.type();
  const std::vector<int> fields = columns_named(table, names);
  // One dict is kept up to date, row by row, and copied: a value that repeats the row before is
  // left as it is, any other is set in a dict that lies in the cache, and a copy is one block.
  const py::dict current;
  for (const int field : fields) current[py::handle(type.names.name(field))] = py::none();
  py::list result(static_cast<std::size_t>(self.size()));
  for (std::int64_t row = self.start(); row < self.stop(); ++row) {
    for (const int field : fields) {
      if (row > self.start() && columns.repeats(field, row)) continue;
      PyObject* const value = columns.cell(field, row);
      if (value == nullptr) throw py::error_already_set();
      const int failed = PyDict_SetItem(current.ptr(), type.names.name(field), value);
      Py_DECREF(value);
      if (failed != 0) throw py::error_already_set();
    }
    py::dict made = owned(PyDict_Copy(current.ptr()));
    if (extra) add_extras(table, row, made);
    PyList_SET_ITEM(result.ptr(), row - self.start(), made.release().ptr());
  }
  return result;
}

// Field, relation, part of a timestamp, whether a missing value is wanted, the wanted values.
using ConditionTuple = std::tuple<std::string, std::string, std::string, bool, py::list>;

std::int64_t integer_for(const Field& field, TimePart part, PyObject* value) {
  if (field.kind == Kind::date || part == TimePart::day) return date_of(field, value);
  const bool moment = field.kind == Kind::timestamp && part == TimePart::all;
  return moment ? micros_of(field, value) : integer_of(field, value);
}

Condition condition_of(const Table& table, const ConditionTuple& given) {
  const auto& [name, relation, part, null_wanted, values] = given;
  Condition condition{.field = field_named(table, name),
                      .relation = named<Relation>({"eq", "ne", "lt", "le", "gt", "ge"}, relation),
                      .part = named<TimePart>({"all", "day", "clock"}, part),
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

// A new table of the rows that `choose` gives; this slice if they are all of its rows in order.
template <typename Choose>
py::object chosen(const OwnedSlice& self, const Choose& choose) {
  TablePtr table = released([&]() -> TablePtr {
    const std::vector<std::int64_t> rows = choose();
    const bool same = std::cmp_equal(rows.size(), self.size()) && std::ranges::is_sorted(rows);
    return same ? nullptr : gather(self.table(), rows);
  });
  return table ? whole_slice(std::move(table), self.zone()) : py::cast(self);
}

py::object where(const OwnedSlice& self, const std::vector<ConditionTuple>& given) {
  std::vector<Condition> conditions;
  for (const ConditionTuple& one : given) conditions.push_back(condition_of(self.table(), one));
  return chosen(self, [&] { return rows_where(self.view(), conditions); });
}

py::object sorted(const OwnedSlice& self, const std::vector<std::tuple<std::string, bool>>& given) {
  std::vector<SortKey> keys;
  for (const auto& [name, descending] : given) {
    keys.push_back({field_named(self.table(), name), descending});
  }
  return chosen(self, [&] { return sorted_rows(self.view(), keys); });
}

}  // namespace

void bind_slice(py::module_& module) {
  SliceClass(module, "Slice", py::is_final(), py::custom_type_setup(set_slots))
      .def("__eq__", &same_slices, py::is_operator())
      .def_property_readonly("record",
                             [](const OwnedSlice& self) { return self.table().schema().record; })
      .def_property_readonly("row_type",
                             [](const OwnedSlice& self) { return self.columns().type().object(); })
      .def_property_readonly("zone", [](const OwnedSlice& self) { return self.zone(); })
      .def_property_readonly("table_rows",
                             [](const OwnedSlice& self) { return self.table().rows(); })
      .def_property_readonly("masked", [](const OwnedSlice& self) { return self.table().masked(); })
      .def_property_readonly("body",
                             [](const OwnedSlice& self) -> py::object {
                               if (!self.table().holds_body()) return py::none();
                               return py::bytes(self.table().buffers().front().view());
                             })
      .def_property_readonly("issues", &issues)
      .def("take", &take, py::arg("rows"))
      .def("extra_names", &extra_names)
      .def("with_extra_column", &with_extras_in_one, py::arg("record"))
      .def("column", &column, py::arg("name"))
      .def("cells", &cells, py::arg("rows"), py::arg("names"))
      .def("missing", &missing, py::arg("names"))
      .def("to_dicts", &to_dicts, py::arg("columns"), py::arg("extra") = false)
      .def("where", &where, py::arg("conditions"))
      .def("sorted", &sorted, py::arg("keys"))
      .def("with_zone", &with_zone, py::arg("zone"))
      .def("to_json", [](const OwnedSlice& self) { return py::bytes(rows_as_json(self.view())); });
}

}  // namespace tradingdata::python
