// Keeps the functions that the package hands over when it is imported.
#include "python_calls.hpp"

#include <array>

#include "bindings.hpp"

namespace tradingdata::python {

namespace {

constexpr std::array names{"frozen", "no_attribute", "no_field", "read_extra", "zone_of_record"};
std::array<PyObject*, names.size()> functions;  // for as long as the process lives

void hand_over(const py::kwargs& given) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    PyObject* const function = PyDict_GetItemString(given.ptr(), names[i]);
    if (function == nullptr) throw py::type_error(std::string("hand_over needs ") + names[i]);
    Py_XSETREF(functions[i], Py_NewRef(function));
  }
}

}  // namespace

py::handle handed_over(Function function) {
  return functions[static_cast<std::size_t>(function)];
}

void bind_python_calls(py::module_& module) {
  module.def("hand_over", &hand_over);
}

}  // namespace tradingdata::python
