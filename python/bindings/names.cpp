// Interned names let attribute access compare pointers instead of text.
#include "names.hpp"

namespace tradingdata::python {

void FieldNames::fill(const Schema& schema) {
  py::dict by_text;
  for (int field = 0; field < schema.width(); ++field) {
    const std::string_view text = schema.field(field).name;
    PyObject* const name = PyUnicode_InternFromString(text.data());
    if (name == nullptr) throw py::error_already_set();
    names_.push_back(name);
    by_text[py::handle(name)] = field;
    std::size_t slot = slot_of(name);
    while (slots_[slot].name != nullptr) slot = (slot + 1) % slots_.size();
    slots_[slot] = {name, field};
  }
  by_text_ = by_text.release().ptr();
}

int FieldNames::find_equal(PyObject* name) const {
  const int found = find(name);
  if (found >= 0) return found;
  PyObject* const field = PyDict_GetItemWithError(by_text_, name);
  if (field != nullptr) return static_cast<int>(PyLong_AsLong(field));
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return -1;
}

py::object no_field(const Schema& schema, py::handle name) {
  const py::module_ suggestions = py::module_::import("tradingdata._util.suggestions");
  return suggestions.attr("no_field")(schema.record, name);
}

}  // namespace tradingdata::python
