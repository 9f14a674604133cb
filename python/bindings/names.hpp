// The field names of a record as interned Python text, and the way back from text to field.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

#include "table/schema.hpp"

namespace tradingdata::python {

namespace py = pybind11;

// Finds a field by its interned name: one look at an address and, nearly always, one comparison.
class FieldFinder {
 public:
  // The field, or -1 where no field has this very object for a name.
  int find(PyObject* name) const {
    std::size_t slot = slot_of(name);
    while (slots_[slot].name != nullptr) {
      if (slots_[slot].name == name) return slots_[slot].field;
      slot = (slot + 1) & mask_;
    }
    return -1;
  }

 protected:
  struct Slot {
    PyObject* name = nullptr;
    int field = -1;
  };

  std::size_t slot_of(PyObject* name) const {
    const auto address = reinterpret_cast<std::uintptr_t>(name) >> 4;
    return (address ^ address >> 9) & mask_;
  }

  const Slot* slots_ = nullptr;
  std::size_t mask_ = 0;
};

// Names live as long as the process, as the types do that carry them.
class FieldNames : public FieldFinder {
 public:
  void fill(const Schema& schema);

  // Also finds a name that is equal, but another object. `name` is a str.
  int find_equal(PyObject* name) const;
  PyObject* name(int field) const { return names_[static_cast<std::size_t>(field)]; }

 private:
  std::vector<Slot> made_slots_;
  std::vector<PyObject*> names_;
  PyObject* by_text_ = nullptr;  // a dict, from name to field
};

// The message for a name that is not a field, with the closest one that is.
py::object no_field(const Schema& schema, py::handle name);

}  // namespace tradingdata::python
