// Records: made by keyword or from another one, and joined to tables; and the declarations
// of records and calls, which the package's lists follow.
#include <pybind11/stl.h>

#include <datetime.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "client/calls.hpp"
#include "columns.hpp"
#include "rows.hpp"
#include "slice.hpp"
#include "table/records.hpp"
#include "table/rows.hpp"
#include "table/table.hpp"
#include "values.hpp"

namespace tradingdata::python {

using namespace py::literals;

namespace {

// Whether there is a value now; the zero date counts as missing, as on the wire.
bool put(TableBuilder& table, int index, std::int64_t row, PyObject* value) {
  const Field& field = table.table().schema().field(index);
  switch (field.kind) {
    case Kind::text:
      table.cells<TextView>(index)[row] = table.keep_text(text_of(field, value));
      break;
    case Kind::integer: table.cells<std::int64_t>(index)[row] = integer_of(field, value); break;
    case Kind::number: table.cells<double>(index)[row] = number_of(field, value); break;
    case Kind::timestamp:
      table.cells<std::int64_t>(index)[row] = micros_of(field, value);
      if (days_of(value) != zero_date) return true;
      if (table.cells<std::int64_t>(index)[row] == zero_date * micros_per_day) return false;
      raise(PyExc_ValueError,
            "%s cannot be %s: 0001-01-01 stands for no time: pass a later day, or None",
            field.name.data(), shown(value).c_str());
    case Kind::date:
      return (table.cells<std::int32_t>(index)[row] = date_of(field, value)) != zero_date;
  }
  return true;
}

// The table of one row to fill: without a value, or a copy of another row.
TableBuilder begin_table(const RowType& type, const RowObject* base) {
  if (base != nullptr) {
    return copy_of(base->columns->table(), std::array{base->row}, *type.schema);
  }
  TableBuilder table(*type.schema);
  table.reserve(1);
  for (int field = 0; field < type.schema->width(); ++field) table.set_null(field, 0);
  table.set_rows(1);
  return table;
}

// The one time zone of all times of a record; without times, that of its base.
class Zone {
 public:
  explicit Zone(py::object base) : base_(std::move(base)) {}

  void take(const Field& field, const py::object& zone) {
    if (zone_ && !equal(zone_, zone)) {
      raise(PyExc_ValueError, "%s is in another time zone than the other times", field.name.data());
    }
    zone_ = zone;
  }
  py::object get() const { return zone_ ? zone_ : base_; }

 private:
  py::object base_;
  py::object zone_;
};

// The zone of a datetime. A zone of pytz (which has a method `localize`) and the second of two
// equal clock times need a closer look.
py::object zone_of(const py::handle& time) {
  auto zone = py::reinterpret_borrow<py::object>(PyDateTime_DATE_GET_TZINFO(time.ptr()));
  if (zone.is_none()) return zone;
  const bool of_pytz = !attribute(zone, "localize", py::none()).is_none();
  if (PyDateTime_DATE_GET_FOLD(time.ptr()) == 0 && !of_pytz) return zone;
  return call_python(handed_over(Function::zone_of_record), time);
}

// Times of the base keep their zone; new ones must be in it.
Zone zone_of(const RowObject* base, const Table& table, const py::dict& changes) {
  if (base == nullptr) return Zone(py::none());
  const auto known = py::reinterpret_borrow<py::object>(base->columns->zone());
  Zone zone(known);
  for (int i = 0; i < table.schema().width(); ++i) {
    const Field& field = table.schema().field(i);
    const bool stays =
        field.kind == Kind::timestamp && table.valid(i, 0) && !changes.contains(field.name);
    if (stays) zone.take(field, known);
  }
  return zone;
}

}  // namespace

py::object make_record(const RowType& type, PyObject* keywords, const RowObject* base) {
  const py::dict changes =
      keywords != nullptr ? py::reinterpret_borrow<py::dict>(keywords) : py::dict();
  TableBuilder table = begin_table(type, base);
  Zone zone = zone_of(base, table.table(), changes);
  for (const auto& [key, value] : changes) {
    const int index = type.names.find_equal(key.ptr());
    if (index < 0) throw py::type_error(no_field(*type.schema, key).cast<std::string>());
    const Field& field = type.schema->field(index);
    table.unset_null(index, 0);
    if (value.is_none() || !put(table, index, 0, value.ptr())) {
      table.set_null(index, 0);
    } else if (field.kind == Kind::timestamp) {
      zone.take(field, zone_of(value));
    } else if (field.personal()) {
      table.set_masked(false);
    }
  }
  return make_row(whole_slice(std::move(table).build(), zone.get()), 0);
}

namespace {

// Appends columns to a table until it has all.
class ColumnAppender {
 public:
  explicit ColumnAppender(const Schema& schema) : table_(schema) {}

  // Values of Python.
  void add(const py::tuple& values) {
    begin(std::ssize(values));
    for (std::int64_t row = 0; row < table_.table().capacity(); ++row) {
      PyObject* const value = PyTuple_GET_ITEM(values.ptr(), row);
      if (value == Py_None || !put(table_, field_, row, value)) table_.set_null(field_, row);
    }
    ++field_;
  }

  // Columns of a slice, in some of its rows; the row -1 has no values.
  void add(const OwnedSlice& slice, const std::vector<std::int64_t>& rows, const Names& names) {
    require_rows(slice, rows);
    for (const int source : columns_named(slice.table(), names)) {
      begin(std::ssize(rows));
      copy_cells(table_, field_++, slice.view(), source, rows);
    }
  }

  TablePtr build() {
    if (field_ != table_.table().schema().width()) throw py::value_error(one_each);
    table_.set_rows(table_.table().capacity());
    return std::move(table_).build();
  }

 private:
  static constexpr const char* one_each = "a column each is needed";

  void begin(std::int64_t rows) {
    if (field_ == table_.table().schema().width()) throw py::value_error(one_each);
    if (field_ == 0) table_.reserve(rows);
    if (rows != table_.table().capacity())
      throw py::value_error("columns of one length are needed");
  }

  TableBuilder table_;
  int field_ = 0;
};

}  // namespace

py::object table_of(const py::object& record, const py::list& columns, const py::object& zone) {
  ColumnAppender table(*row_type_given(record).schema);
  // Converting a value may run Python code, which could change a list.
  for (const py::handle column : py::tuple(columns)) {
    if (PyTuple_Check(column.ptr()) != 0) {
      const auto [slice, rows, names] =
          column.cast<std::tuple<OwnedSlice, std::vector<std::int64_t>, Names>>();
      table.add(slice, rows, names);
    } else {
      table.add(py::tuple(column.cast<py::list>()));
    }
  }
  return whole_slice(table.build(), zone);
}

// Functions on records and their types, and tables built from records.

namespace {

bool has_times(const Slice& rows) {
  const Schema& schema = rows.table->schema();
  for (int field = 0; field < schema.width(); ++field) {
    if (schema.field(field).kind != Kind::timestamp) continue;
    for (std::int64_t row = rows.start; row < rows.stop; ++row) {
      if (rows.table->valid(field, row)) return true;
    }
  }
  return false;
}

// A table of rows from several ones, which the caller keeps alive. Their times must be in one zone;
// rows without times are in none.
struct Union {
  std::vector<Slice> slices;
  py::object zone = py::none();

  void add(const Slice& slice, py::handle its_zone) {
    const bool differs = slices.empty() || !equal(zone, its_zone);
    if (differs && (slices.empty() || has_times(slice))) {
      if (std::ranges::any_of(slices, has_times)) {
        throw py::value_error(
            "books in different time zones cannot be joined: localize them to the same zone");
      }
      zone = py::reinterpret_borrow<py::object>(its_zone);
    }
    slices.push_back(slice);
  }

  py::object make() const {
    return whole_slice(released([&] { return concat(slices); }), zone);
  }
};

const RowObject* row_of(const py::handle& row) {
  if (row_type_of(row.ptr()) == nullptr) throw py::type_error("not a record");
  return reinterpret_cast<RowObject*>(row.ptr());
}

py::object join(const py::sequence& parts) {
  Union united;
  for (const py::handle& part : parts) {
    const auto& slice = part.cast<const OwnedSlice&>();
    united.add(slice.view(), slice.zone());
  }
  return united.make();
}

py::object from_rows(const py::object& record, const py::list& rows) {
  const RowType& type = row_type_given(record);
  Union united;
  for (const py::handle& row : rows) {
    if (Py_TYPE(row.ptr()) != type.type) {
      const char* const name = type.schema->record.data();
      const bool is_dict = PyDict_Check(row.ptr()) != 0;
      raise(PyExc_TypeError, "a table of %s is made of %s records, not of %s%s%s%s", name,
            type.type->tp_name, Py_TYPE(row.ptr())->tp_name, is_dict ? ": pass " : "",
            is_dict ? name : "", is_dict ? "(**row) for each" : "");
    }
    const RowObject* const object = row_of(row);
    united.add({&object->columns->table(), object->row, object->row + 1}, object->columns->zone());
  }
  if (rows.empty()) return whole_slice(std::make_shared<Table>(*type.schema));
  return united.make();
}

py::list fields_of(const py::object& record) {
  py::list result;
  const RowType& type = row_type_given(record);
  for (int i = 0; i < type.schema->width(); ++i) {
    const Field& field = type.schema->field(i);
    const auto name = py::reinterpret_borrow<py::object>(type.names.name(i));
    result.append(py::make_tuple(name, name_of(field.kind), field.doc, field.personal()));
  }
  return result;
}

// The names alone, as the objects that rows find their fields by.
py::object names_of(const py::object& record) {
  const RowType& type = row_type_given(record);
  return list_from(std::views::iota(0, type.schema->width()),
                   [&](int field) { return Py_NewRef(type.names.name(field)); });
}

// The row alone, in the table that it keeps alive.
py::object slice_of(const py::object& row) {
  const RowObject* const object = row_of(row);
  const py::handle slice = object->owner;
  const auto& owner = slice.cast<const OwnedSlice&>();
  const std::int64_t at = object->row - owner.start();
  return as_python(owner.part(at, at + 1));
}

py::object changed(const py::object& row, const py::dict& changes) {
  const RowObject* const base = row_of(row);
  return make_record(*row_type_of(row.ptr()), changes.ptr(), base);
}

py::dict row_extras(const py::object& row) {
  py::dict extras;
  add_extras(row_of(row)->columns->table(), row_of(row)->row, extras);
  return extras;
}

template <typename Declared, typename Make>
py::tuple each(const Declared& declared, const Make& make) {
  py::tuple made(declared.size());
  for (std::size_t i = 0; i < declared.size(); ++i) made[i] = make(declared[i]);
  return made;
}

py::tuple names_at(const Schema& schema, std::span<const int> fields) {
  return each(fields, [&](int field) { return py::str(schema.field(field).name); });
}

py::dict field(const Field& declared) {
  return py::dict("name"_a = declared.name, "kind"_a = name_of(declared.kind),
                  "doc"_a = declared.doc, "personal"_a = declared.personal(),
                  "optional"_a = declared.optional(), "local"_a = declared.local());
}

py::dict record(const Record& declared) {
  const Schema& schema = *declared.schema;
  return py::dict("name"_a = schema.record, "title"_a = declared.title, "book"_a = declared.book,
                  "noun"_a = py::make_tuple(declared.noun, declared.nouns),
                  "fields"_a = each(schema.fields, field),
                  "identity"_a = names_at(schema, schema.identity),
                  "event_times"_a = names_at(schema, declared.event_times),
                  "display"_a = names_at(schema, declared.display),
                  "narrow"_a = names_at(schema, declared.narrow));
}

py::dict call(const ServiceCall& declared) {
  const auto text = [](std::string_view value) { return py::str(value); };
  return py::dict("name"_a = declared.name,
                  "method"_a = declared.method == Method::get ? "GET" : "POST",
                  "path"_a = declared.path, "parameters"_a = each(declared.parameters, text),
                  "body"_a = declared.body.empty() ? py::object(py::none()) : text(declared.body),
                  "takes_token"_a = declared.takes_token,
                  "form"_a = declared.form == Decoder::Form::book ? "envelope" : "array",
                  "record"_a = declared.schema->record);
}

}  // namespace

void bind_record_functions(py::module_& module) {
  module.def("join", &join, py::arg("parts"));
  module.def("from_rows", &from_rows, py::arg("record"), py::arg("rows"));
  module.def("fields_of", &fields_of, py::arg("record"));
  module.def("names_of", &names_of, py::arg("record"));
  module.def("table_of", &table_of, py::arg("record"), py::arg("columns"),
             py::arg("zone") = py::none());
  module.def("changed", &changed, py::arg("row"), py::arg("changes"));
  module.def("slice_of", &slice_of, py::arg("row"));
  module.def("row_extras", &row_extras, py::arg("row"));
  module.def("records", [] { return each(tradingdata::records, record); });
  module.def("calls", [] { return each(service_calls, call); });
}

}  // namespace tradingdata::python
