// Plain Python values of columns and rows: to_dict, to_dicts, and columns for frames.
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bindings.hpp"
#include "exports.hpp"
#include "extras.hpp"
#include "rows.hpp"
#include "slice.hpp"

namespace tradingdata::python {

namespace {

py::object column_list(const OwnedSlice& slice, int field) {
  py::object result = owned(PyList_New(slice.size()));
  for (std::int64_t row = 0; row < slice.size(); ++row) {
    PyObject* const value = slice.columns().cell(field, slice.start() + row);
    if (value == nullptr) throw py::error_already_set();
    PyList_SET_ITEM(result.ptr(), row, value);
  }
  return result;
}

py::object column(const OwnedSlice& self, const std::string& name) {
  return column_list(self, field_named(self.table(), name));
}

py::dict to_dict(const OwnedSlice& self, const Names& names) {
  const RowType& type = self.columns().type();
  py::dict result;
  for (const int field : columns_named(self.table(), names, {})) {
    result[py::handle(type.names.name(field))] = column_list(self, field);
  }
  return result;
}

py::list to_dicts(const OwnedSlice& self, const Names& names, bool extra) {
  Columns& columns = self.columns();
  const Table& table = self.table();
  const RowType& type = columns.type();
  const std::vector<int> fields = columns_named(table, names, {});
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

}  // namespace

void bind_views(py::module_& module) {
  slice_class(module)
      .def("column", &column, py::arg("name"))
      .def("to_dict", &to_dict, py::arg("columns"))
      .def("to_dicts", &to_dicts, py::arg("columns"), py::arg("extra") = false);
}

}  // namespace tradingdata::python
