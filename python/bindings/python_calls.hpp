// Calls of Python code from C++, and what Python hands over at import to be called: an import at
// the time of the call could find the package gone from sys.modules, or the interpreter ending.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "released_gil.hpp"

namespace tradingdata::python {

// A new reference; throws Python's error where there is none.
inline py::object owned(PyObject* made) {
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

// Functions of the package that the core calls.
enum class Function : std::uint8_t { frozen, no_attribute, no_field, read_extra, zone_of_record };

// The function that `hand_over` was given, borrowed.
py::handle handed_over(Function function);

template <typename... Args>
py::object call_python(py::handle callable, const Args&... args) {
  const py::tuple given = py::make_tuple(args...);
  return owned(or_park([&] { return PyObject_CallObject(callable.ptr(), given.ptr()); }));
}

inline py::object attribute(py::handle object, const char* name) {
  return owned(or_park([&] { return PyObject_GetAttrString(object.ptr(), name); }));
}

inline py::object attribute(py::handle object, const char* name, py::object otherwise) {
  PyObject* const found = or_park([&] { return PyObject_GetAttrString(object.ptr(), name); });
  if (found != nullptr) return py::reinterpret_steal<py::object>(found);
  if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw py::error_already_set();
  PyErr_Clear();
  return otherwise;
}

inline py::object imported(const char* name) {
  return owned(or_park([&] { return PyImport_ImportModule(name); }));
}

inline bool equal(py::handle a, py::handle b) {
  const int same = or_park([&] { return PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_EQ); });
  if (same < 0) throw py::error_already_set();
  return same != 0;
}

// Text like PyUnicode_FromFormat's, which may show values by their repr.
template <typename... Args>
py::object format(const char* text, Args... args) {
  return owned(or_park([&] { return PyUnicode_FromFormat(text, args...); }));
}

// Throws an error with a message like PyErr_Format's, which may show values by their repr.
template <typename... Args>
[[noreturn]] void raise(PyObject* type, const char* format, Args... args) {
  or_park([&] { return PyErr_Format(type, format, args...); });
  throw py::error_already_set();
}

// Runs Python's signal handlers, which only the main thread does; what they raise is thrown.
inline void check_signals() {
  const AcquiredGil acquired;
  if (or_park([] { return PyErr_CheckSignals(); }) != 0) throw py::error_already_set();
}

}  // namespace tradingdata::python
