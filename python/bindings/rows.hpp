// The record types Trade, Order and Stock: a row of a table, as an immutable Python object.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "columns.hpp"
#include "names.hpp"

namespace tradingdata::python {

// Runs what may throw behind a slot of C: no exception passes it, each becomes Python's.
template <typename Work>
PyObject* guarded(const Work& work) noexcept {
  try {
    return work();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::length_error& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

struct RowObject {
  PyObject_HEAD PyObject* owner;  // the _core.Table that keeps the columns alive
  Columns* columns;
  std::int64_t row;
};

struct RowType {
  const Schema* schema = nullptr;
  PyTypeObject* type = nullptr;
  FieldNames names;
};

// The type of a schema's rows; by name, or nullptr with a Python error set.
RowType& row_type(const Schema& schema);
RowType* row_type_named(std::string_view record);
RowType* row_type_of(PyObject* row);  // nullptr, without an error, where it is none

// A row as a new reference; `owner` is the Python object of `columns`.
PyObject* make_row(const RowType& type, PyObject* owner, Columns* columns, std::int64_t row);

// A record made by keyword: values in Python's types, checked one by one. With `base`, a copy of
// that row, unknown fields included, with other values in some fields.
py::object make_record(const RowType& type, PyObject* keywords, const RowObject* base = nullptr);

PyObject* repr_row(PyObject* self);

// Made at import, when no other thread looks: made at first use, a thread that waits for it would
// hold the GIL that its maker needs.
void make_iterator_type();

// An iterator over rows from `start` on, before `stop`, one step (1 or -1) at a time; for Table.
py::object iterate_rows(const py::object& owner, std::int64_t start, std::int64_t stop,
                        std::int64_t step);

}  // namespace tradingdata::python
