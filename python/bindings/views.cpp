// Plain Python values of whole columns and rows: to_dict, to_dicts, and columns for frames.
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bindings.hpp"
#include "rows.hpp"

namespace tradingdata::python {

namespace {

std::vector<int> fields_named(const RowType& type, const std::vector<std::string>& names) {
  std::vector<int> fields;
  for (const std::string& name : names) {
    const int field = type.schema->find(name);
    if (field < 0) {
      throw py::key_error(std::string(type.schema->record) + " has no field \"" + name + "\"");
    }
    fields.push_back(field);
  }
  return fields;
}

void check_range(const Table& table, std::int64_t start, std::int64_t stop) {
  if (start < 0 || stop < start || stop > table.rows()) throw py::index_error("row out of range");
}

py::object column_list(Columns& columns, int field, std::int64_t start, std::int64_t stop) {
  PyObject* const list = PyList_New(stop - start);
  if (list == nullptr) throw py::error_already_set();
  py::object result = py::reinterpret_steal<py::object>(list);
  for (std::int64_t row = start; row < stop; ++row) {
    PyObject* const value = columns.cell(field, row);
    if (value == nullptr) throw py::error_already_set();
    PyList_SET_ITEM(list, row - start, value);
  }
  return result;
}

py::object column(Columns& self, const std::string& name, std::int64_t start, std::int64_t stop) {
  check_range(self.table(), start, stop);
  const RowType& type = row_type(self.table().schema());
  return column_list(self, fields_named(type, {name}).front(), start, stop);
}

py::dict to_dict(Columns& self, std::int64_t start, std::int64_t stop,
                 const std::vector<std::string>& names) {
  check_range(self.table(), start, stop);
  const RowType& type = row_type(self.table().schema());
  py::dict result;
  for (const int field : fields_named(type, names)) {
    result[py::handle(type.names.name(field))] = column_list(self, field, start, stop);
  }
  return result;
}

py::list to_dicts(Columns& self, std::int64_t start, std::int64_t stop,
                  const std::vector<std::string>& names, bool extra) {
  check_range(self.table(), start, stop);
  const Table& table = self.table();
  const RowType& type = row_type(table.schema());
  const std::vector<int> fields = fields_named(type, names);
  // One dict is kept up to date, row by row, and copied: a value that repeats the row before is
  // left as it is, any other is set in a dict that lies in the cache, and a copy is one block.
  const py::dict current;
  for (const int field : fields) current[py::handle(type.names.name(field))] = py::none();
  py::list result(static_cast<std::size_t>(stop - start));
  for (std::int64_t row = start; row < stop; ++row) {
    for (const int field : fields) {
      if (row > start && self.repeats(field, row)) continue;
      PyObject* const value = self.cell(field, row);
      if (value == nullptr) throw py::error_already_set();
      const int failed = PyDict_SetItem(current.ptr(), type.names.name(field), value);
      Py_DECREF(value);
      if (failed != 0) throw py::error_already_set();
    }
    PyObject* const made = PyDict_Copy(current.ptr());
    if (made == nullptr) throw py::error_already_set();
    PyList_SET_ITEM(result.ptr(), row - start, made);
    if (!extra) continue;
    const auto [begin, end] = table.extras_of(row);
    for (std::int64_t i = begin; i < end; ++i) {
      const Extra& unknown = table.extras[static_cast<std::size_t>(i)];
      py::reinterpret_borrow<py::dict>(
          made)[py::str(table.extra_names[static_cast<std::size_t>(unknown.name)])] =
          extra_value(table, unknown);
    }
  }
  return result;
}

}  // namespace

void bind_views(py::module_& module) {
  auto table =
      py::reinterpret_borrow<py::class_<Columns, std::shared_ptr<Columns>>>(module.attr("Table"));
  table.def("column", &column, py::arg("name"), py::arg("start"), py::arg("stop"))
      .def("to_dict", &to_dict, py::arg("start"), py::arg("stop"), py::arg("columns"))
      .def("to_dicts", &to_dicts, py::arg("start"), py::arg("stop"), py::arg("columns"),
           py::arg("extra") = false);
}

}  // namespace tradingdata::python
