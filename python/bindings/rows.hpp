// The record types Trade, Order and Stock: a row of a table, as an immutable Python object.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

#include "columns.hpp"

namespace tradingdata::python {

// Runs what may throw behind a slot of C: no exception passes it, each becomes Python's.
template <typename Work>
PyObject* guarded(const Work& work) noexcept {
  try {
    return work();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

struct RowObject {
  PyObject_HEAD
  PyObject* owner;   // the _core.Table that keeps the columns alive
  Columns* columns;
  std::int64_t row;
};

// Finds a field by its interned name: one multiplication and, nearly always, one comparison.
class NameTable {
 public:
  void fill(const Schema& schema);
  int find(PyObject* name) const {
    std::size_t slot = slot_of(name);
    while (slots_[slot].name != nullptr) {
      if (slots_[slot].name == name) return slots_[slot].field;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return -1;
  }
  // Also finds a name that is equal, but not the interned object.
  int find_equal(PyObject* name) const;
  PyObject* name(int field) const { return names_[static_cast<std::size_t>(field)]; }

 private:
  struct Slot {
    PyObject* name = nullptr;
    int field = -1;
  };
  std::size_t slot_of(PyObject* name) const {
    const auto address = reinterpret_cast<std::uintptr_t>(name) >> 4;
    return (address ^ address >> 9) & (slots_.size() - 1);
  }

  std::vector<Slot> slots_;
  std::vector<PyObject*> names_;
};

struct RowType {
  const Schema* schema = nullptr;
  PyTypeObject* type = nullptr;
  NameTable names;
};

// The type of a schema's rows; by name, or nullptr with a Python error set.
RowType& row_type(const Schema& schema);
RowType* row_type_named(std::string_view record);
RowType* row_type_of(PyObject* row);  // nullptr, without an error, where it is none

// A row as a new reference; `owner` is the Python object of `columns`.
PyObject* make_row(const RowType& type, PyObject* owner, Columns* columns, std::int64_t row);

// A table's unknown field as Python's json reads it.
py::object extra_value(const Table& table, const Extra& extra);

// A record made by keyword: values in Python's types, checked one by one.
py::object make_record(RowType& type, PyObject* keywords);

PyObject* repr_row(PyObject* self);

// Adds an iterator type over rows; used by Table.
py::object iterate_rows(const py::object& owner, std::int64_t start, std::int64_t stop,
                        std::int64_t step);

}  // namespace tradingdata::python
