// Interned names let attribute access compare pointers instead of text.
#include "names.hpp"

#include <bit>

#include "python_calls.hpp"

namespace tradingdata::python {

void FieldNames::fill(const Schema& schema) {
  constexpr std::size_t slots_a_name = 16;  // few are taken, so that probes end at once
  made_slots_.resize(std::bit_ceil(slots_a_name * (schema.fields.size() + 1)));
  slots_ = made_slots_.data();
  mask_ = made_slots_.size() - 1;
  py::dict by_text;
  for (int field = 0; field < schema.width(); ++field) {
    PyObject* const name = PyUnicode_InternFromString(schema.field(field).name.data());
    if (name == nullptr) throw py::error_already_set();
    names_.push_back(name);
    by_text[py::handle(name)] = field;
    std::size_t slot = slot_of(name);
    while (made_slots_[slot].name != nullptr) slot = (slot + 1) & mask_;
    made_slots_[slot] = {name, field};
  }
  by_text_ = by_text.release().ptr();
}

int FieldNames::find_equal(PyObject* name) const {
  const int found = find(name);
  if (found >= 0) return found;
  // Equality of a subclass of str may be Python code.
  PyObject* const field = or_park([&] { return PyDict_GetItemWithError(by_text_, name); });
  if (field != nullptr) return static_cast<int>(PyLong_AsLong(field));
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return -1;
}

py::object no_field(const Schema& schema, py::handle name) {
  py::list known;
  for (const Field& field : schema.fields) known.append(field.name);
  return call_python(handed_over(Function::no_field), schema.record, known, name);
}

}  // namespace tradingdata::python
