// The types of rows, such as Trade: a row of a table, as an immutable Python object.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <vector>

#include "columns.hpp"

namespace tradingdata::python {

struct RowObject {
  PyObject_HEAD PyObject* owner;  // the _core.Slice that keeps the columns alive
  Columns* columns;
  std::int64_t row;
};

// Those of the service's records live as long as the process. Others live as long as their Python
// type, which the rows and columns of each table refer to.
struct RowType {
  const Schema* schema = nullptr;
  PyTypeObject* type = nullptr;
  FieldNames names;

  // What the type points into.
  std::string name;
  std::string doc;
  std::vector<std::string> field_docs;
  std::vector<PyGetSetDef> getters;

  py::object object() const {
    return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(type));
  }
};

// The type of a schema's rows. Of a record's name or of such a type, which must be one.
const RowType& row_type(const Schema& schema);
const RowType& row_type_given(py::handle record);
const RowType* row_type_of(PyObject* row);  // nullptr, without an error, if it is not a record

// A row of the table as a new reference; `owner` is a _core.Slice of these columns.
PyObject* make_row(const RowType& type, PyObject* owner, Columns* columns, std::int64_t row);
// The row of a _core.Slice, counted from its first one, which must exist.
py::object make_row(const py::object& slice, std::int64_t row);

// A record made by keyword: values in Python's types, checked one by one. With `base`, a copy of
// that row, unknown fields included, with other values in some fields.
py::object make_record(const RowType& type, PyObject* keywords, const RowObject* base = nullptr);

// A table of columns: lists of Python values, checked as those of a record are, and tuples of a
// slice, some rows and names, for the columns of these names.
py::object table_of(const py::object& record, const py::list& columns, const py::object& zone);

}  // namespace tradingdata::python
