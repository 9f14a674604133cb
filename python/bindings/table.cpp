// _core.Table: what a book holds. Rows are counted from the table's first; books add their offset.
#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "export/json.hpp"
#include "exports.hpp"
#include "extras.hpp"
#include "released_gil.hpp"
#include "rows.hpp"
#include "table/records.hpp"
#include "table/row_selection.hpp"

namespace tradingdata::python {

namespace {

py::object wrap(TablePtr table, const py::object& zone) {
  return py::cast(std::make_shared<Columns>(std::move(table), zone));
}

py::object steal(PyObject* made) {
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

py::bytes as_bytes(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

py::object row_at(const py::object& self, std::int64_t row) {
  auto* const columns = self.cast<Columns*>();
  check_rows(columns->table(), row, row + 1);
  return steal(make_row(row_type(columns->table().schema()), self.ptr(), columns, row));
}

py::object take(const Columns& self, const std::vector<std::int64_t>& rows) {
  for (const std::int64_t row : rows) check_rows(self.table(), row, row + 1);
  TablePtr gathered;
  {
    // The table is immutable and held by `self`.
    const ReleasedGil released;
    gathered = gather(self.table(), rows);
  }
  return wrap(std::move(gathered), self.zone());
}

// The rows of a range that equal `value`, a record of the same type; for `in`, index and count.
std::vector<std::int64_t> find(const Columns& self, std::int64_t start, std::int64_t stop,
                               const py::object& value) {
  check_rows(self.table(), start, stop);
  std::vector<std::int64_t> found;
  if (row_type_of(value.ptr()) == nullptr) return found;
  const auto* row = reinterpret_cast<RowObject*>(value.ptr());
  if (!row->columns->zone().equal(self.zone())) return found;
  for (std::int64_t i = start; i < stop; ++i) {
    if (same_row(self.table(), i, row->columns->table(), row->row)) found.push_back(i);
  }
  return found;
}

bool equal(const Columns& self, std::int64_t start, std::int64_t stop, const Columns& other,
           std::int64_t other_start) {
  check_rows(self.table(), start, stop);
  check_rows(other.table(), other_start, other_start + (stop - start));
  if (!self.zone().equal(other.zone())) return false;
  for (std::int64_t i = 0; i < stop - start; ++i) {
    if (!same_row(self.table(), start + i, other.table(), other_start + i)) return false;
  }
  return true;
}

py::list issues(const Columns& self) {
  py::list result;
  for (const Issue& issue : self.table().issues) {
    const ProblemInfo info = describe(issue.problem);
    const py::object raw = steal(PyUnicode_DecodeUTF8(
        issue.raw.data(), static_cast<Py_ssize_t>(issue.raw.size()), "replace"));
    result.append(py::make_tuple(issue.field, info.text, issue.count, issue.row, raw, info.lost));
  }
  return result;
}

std::vector<std::string> extra_names(const Columns& self, std::int64_t start, std::int64_t stop) {
  const Table& table = self.table();
  check_rows(table, start, stop);
  std::vector<char> present(table.extra_names.size());
  for (auto i = table.extras_of(start).first; i < static_cast<std::int64_t>(table.extras.size()) &&
                                              table.extras[static_cast<std::size_t>(i)].row < stop;
       ++i) {
    present[static_cast<std::size_t>(table.extras[static_cast<std::size_t>(i)].name)] = 1;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < present.size(); ++i) {
    if (present[i] != 0) names.push_back(table.extra_names[i]);
  }
  return names;
}

py::object join(const std::string& record, const py::sequence& parts) {
  if (py::len(parts) == 0) {
    return wrap(std::make_shared<Table>(*row_type_named(record)->schema), py::none());
  }
  std::vector<Slice> slices;
  py::object zone;
  for (const py::handle& part : parts) {
    const auto [columns, start, stop] =
        part.cast<std::tuple<Columns*, std::int64_t, std::int64_t>>();
    check_rows(columns->table(), start, stop);
    if (!zone) zone = columns->zone();
    if (!zone.equal(columns->zone())) {
      throw py::value_error("books in different time zones cannot be joined; localize them alike");
    }
    slices.push_back({&columns->table(), start, stop});
  }
  if (slices.front().table->schema().record != record) {
    throw py::type_error("a book of another record cannot be joined");
  }
  TablePtr joined;
  {
    // The tables are immutable, and `parts` holds them.
    const ReleasedGil released;
    joined = concat(slices);
  }
  return wrap(std::move(joined), zone);
}

py::object from_rows(const std::string& record, const py::iterable& rows) {
  const RowType& type = *row_type_named(record);
  py::list parts;
  py::list kept;
  for (const py::handle& row : rows) {
    if (Py_TYPE(row.ptr()) != type.type) {
      PyErr_Format(PyExc_TypeError, "a book of %s is made of %s records, not of %R", record.c_str(),
                   type.type->tp_name, row.ptr());
      throw py::error_already_set();
    }
    kept.append(row);
    const auto* object = reinterpret_cast<RowObject*>(row.ptr());
    parts.append(py::make_tuple(py::handle(object->owner), object->row, object->row + 1));
  }
  return join(record, parts);
}

py::list fields_of(const std::string& record) {
  py::list result;
  const RowType& type = *row_type_named(record);
  for (int i = 0; i < type.schema->width(); ++i) {
    const Field& field = type.schema->fields[static_cast<std::size_t>(i)];
    const auto name = py::reinterpret_borrow<py::object>(type.names.name(i));
    result.append(py::make_tuple(name, name_of(field.kind), field.doc, field.personal));
  }
  return result;
}

// The names alone, as the objects that rows find their fields by.
py::list names_of(const std::string& record) {
  py::list result;
  const RowType& type = *row_type_named(record);
  for (int i = 0; i < type.schema->width(); ++i) {
    result.append(py::reinterpret_borrow<py::object>(type.names.name(i)));
  }
  return result;
}

const RowObject* row_of(const py::object& row) {
  if (row_type_of(row.ptr()) == nullptr) throw py::type_error("not a record");
  return reinterpret_cast<RowObject*>(row.ptr());
}

// A time zone may refer to the book that it was given to.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!py::detail::is_holder_constructed(self)) return 0;
  const auto columns = py::handle(self).cast<std::shared_ptr<Columns>>();
  constexpr int own = 2;  // this pointer and that of `self`; with others, the zone is still in use
  if (columns.use_count() == own) Py_VISIT(columns->zone().ptr());
  return 0;
}

void collect_garbage(PyHeapTypeObject* type) {
  type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type->ht_type.tp_traverse = traverse;
}

}  // namespace

void bind_table(py::module_& module) {
  py::class_<Columns, std::shared_ptr<Columns>>(module, "Table", py::is_final(),
                                                py::custom_type_setup(collect_garbage))
      .def("__len__", [](const Columns& self) { return self.table().rows(); })
      .def_property_readonly("record",
                             [](const Columns& self) { return self.table().schema().record; })
      .def_property_readonly("zone", [](const Columns& self) { return self.zone(); })
      .def_property_readonly("masked", [](const Columns& self) { return self.table().masked; })
      .def_property_readonly("body",
                             [](const Columns& self) -> py::object {
                               if (!self.table().holds_body) return py::none();
                               return as_bytes(self.table().buffers.front().view());
                             })
      .def_property_readonly("message", [](const Columns& self) { return self.table().message; })
      .def_property_readonly("issues", &issues)
      .def("row", &row_at, py::arg("row"))
      .def("rows", &iterate_rows, py::arg("start"), py::arg("stop"), py::arg("step") = 1)
      .def("take", &take, py::arg("rows"))
      .def("find", &find, py::arg("start"), py::arg("stop"), py::arg("value"))
      .def("equal", &equal, py::arg("start"), py::arg("stop"), py::arg("other"),
           py::arg("other_start"))
      .def("extra_names", &extra_names, py::arg("start"), py::arg("stop"))
      .def(
          "with_zone",
          [](const Columns& self, const py::object& zone) { return wrap(self.shared(), zone); },
          py::arg("zone"))
      .def(
          "to_json",
          [](const Columns& self, std::int64_t start, std::int64_t stop) {
            check_rows(self.table(), start, stop);
            return as_bytes(rows_as_json(self.table(), start, stop));
          },
          py::arg("start"), py::arg("stop"));
  module.def("join", &join, py::arg("record"), py::arg("parts"));
  module.def("from_rows", &from_rows, py::arg("record"), py::arg("rows"));
  module.def("fields_of", &fields_of, py::arg("record"));
  module.def("names_of", &names_of, py::arg("record"));
  module.def(
      "changed",
      [](const py::object& row, const py::dict& changes) {
        const RowObject* const base = row_of(row);
        return make_record(*row_type_of(row.ptr()), changes.ptr(), base);
      },
      py::arg("row"), py::arg("changes"));
  module.def(
      "row_table",
      [](const py::object& row) {
        return py::make_tuple(py::handle(row_of(row)->owner), row_of(row)->row);
      },
      py::arg("row"));
  module.def(
      "row_extras",
      [](const py::object& row) {
        py::dict extras;
        add_extras(row_of(row)->columns->table(), row_of(row)->row, extras);
        return extras;
      },
      py::arg("row"));
}

}  // namespace tradingdata::python
