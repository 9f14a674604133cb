// Plain Python values of whole columns and rows: to_dict, to_dicts, and columns for frames.
#include <vector>

#include "bindings.hpp"
#include "exports.hpp"
#include "extras.hpp"
#include "rows.hpp"
#include "slice.hpp"

namespace tradingdata::python {

namespace {

int field_of(const RowType& type, py::handle name) {
  const int field = PyUnicode_Check(name.ptr()) ? type.names.find_equal(name.ptr()) : -1;
  if (field >= 0) return field;
  PyErr_SetObject(PyExc_KeyError, no_field(*type.schema, name).ptr());
  throw py::error_already_set();
}

std::vector<int> fields_of(const RowType& type, const py::iterable& names) {
  std::vector<int> fields;
  for (const py::handle& name : names) fields.push_back(field_of(type, name));
  return fields;
}

py::object column_list(const OwnedSlice& slice, int field) {
  PyObject* const list = PyList_New(slice.size());
  if (list == nullptr) throw py::error_already_set();
  py::object result = py::reinterpret_steal<py::object>(list);
  for (std::int64_t row = 0; row < slice.size(); ++row) {
    PyObject* const value = slice.columns().cell(field, slice.start() + row);
    if (value == nullptr) throw py::error_already_set();
    PyList_SET_ITEM(list, row, value);
  }
  return result;
}

py::object column(const OwnedSlice& self, const py::str& name) {
  const RowType& type = row_type(self.table().schema());
  return column_list(self, field_of(type, name));
}

py::dict to_dict(const OwnedSlice& self, const py::iterable& names) {
  const RowType& type = row_type(self.table().schema());
  py::dict result;
  for (const int field : fields_of(type, names)) {
    result[py::handle(type.names.name(field))] = column_list(self, field);
  }
  return result;
}

py::list to_dicts(const OwnedSlice& self, const py::iterable& names, bool extra) {
  Columns& columns = self.columns();
  const Table& table = self.table();
  const RowType& type = row_type(table.schema());
  const std::vector<int> fields = fields_of(type, names);
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
    PyObject* const made = PyDict_Copy(current.ptr());
    if (made == nullptr) throw py::error_already_set();
    PyList_SET_ITEM(result.ptr(), row - self.start(), made);
    if (extra) {
      auto with_extras = py::reinterpret_borrow<py::dict>(made);
      add_extras(table, row, with_extras);
    }
  }
  return result;
}

}  // namespace

void bind_views(py::module_& module) {
  slice_class(module)
      .def("column", &column, py::arg("name"))
      .def("to_dict", &to_dict, py::arg("columns"))
      .def("to_dicts", &to_dicts, py::arg("columns"), py::arg("extra") = false);
}

}  // namespace tradingdata::python
