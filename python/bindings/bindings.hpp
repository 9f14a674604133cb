// The two ways in which a thread beneath C++ frames of ours meets the interpreter: it works without
// the GIL and takes it again, or it runs Python code, which may release the GIL at any time.
//
// While the interpreter ends, CPython before 3.14 ends every other thread at the moment it takes
// the GIL, by unwinding its stack: destructors of ours would then touch Python objects without the
// GIL, and handlers and `noexcept` functions would stop the unwinding, which ends the process by a
// signal. So whatever may take the GIL beneath our frames goes through `or_park`. What else is
// called of Python's C API runs no Python code.
//
// Also: calls of Python code from C++, and the functions that the module's table of contents calls.
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>

namespace tradingdata::python {

namespace py = pybind11;

// The result of `work`, C calls that may take the GIL. A thread that would be ended in it waits for
// the end of the process instead: in a destructor, since a handler must not meet this unwinding
// while C++ handles an exception. It is a function of its own, and not `noexcept`, because
// compilers leave out destructors in what must not throw.
template <typename Work>
[[gnu::noinline]] auto or_park(const Work& work) {
  struct Park {
    Park() = default;
    Park(const Park&) = delete;
    Park& operator=(const Park&) = delete;
    ~Park() {
      while (!done) std::this_thread::sleep_for(std::chrono::hours(1));
    }
    bool done = false;
  } park;
  const auto result = work();
  park.done = true;
  return result;
}

class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;
  ~ReleasedGil() {
    or_park([this] {
      PyEval_RestoreThread(state_);
      return true;
    });
  }

 private:
  PyThreadState* state_;
};

// The GIL, for calls of Python beneath ReleasedGil.
class TakenGil {
 public:
  TakenGil() : state_(or_park([] { return PyGILState_Ensure(); })) {}
  TakenGil(const TakenGil&) = delete;
  TakenGil& operator=(const TakenGil&) = delete;
  ~TakenGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

// The result of `work`, without the GIL. Tables are immutable, and held by the caller's arguments.
template <typename Work>
auto released(const Work& work) {
  const ReleasedGil gil;
  return work();
}

// A new reference; throws Python's error where there is none.
inline py::object owned(PyObject* made) {
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

// A list of as many new references as there are items, each made by a function of the item.
template <typename Items, typename Make>
py::object list_from(const Items& items, const Make& make) {
  py::object result = owned(PyList_New(static_cast<Py_ssize_t>(std::size(items))));
  Py_ssize_t at = 0;
  for (const auto& item : items) {
    PyObject* const value = make(item);
    if (value == nullptr) throw py::error_already_set();
    PyList_SET_ITEM(result.ptr(), at++, value);
  }
  return result;
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

// The result of a plain C function or a slot, and Python's error for what `work` throws.
template <typename Work>
PyObject* guarded(const Work& work) {
  try {
    return work();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception&) {
    py::detail::try_translate_exceptions();
  }
  return nullptr;
}

// The same of an object.
//
// Code of the user that may switch to another greenlet runs beneath such functions only: a lock, a
// sleep, a generator that reads. gevent and eventlet leave frames in any order, and pybind11 ends
// the process when a frame of its own is not left last in, first out.
template <typename Work>
PyObject* unframed(const Work& work) {
  return guarded([&] { return py::object(work()).release().ptr(); });
}

inline void add_functions(py::module_& module, PyMethodDef* functions) {
  if (PyModule_AddFunctions(module.ptr(), functions) != 0) throw py::error_already_set();
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

// The enumerator of a name in a list that is in the order of the enumeration.
template <typename Enumeration, std::size_t count>
Enumeration named(const std::string_view (&names)[count], std::string_view name) {
  const auto* const found = std::ranges::find(names, name);
  if (found == std::end(names)) throw py::value_error("unknown name: " + std::string(name));
  return static_cast<Enumeration>(found - std::begin(names));
}

// A text with the escapes of what a terminal or a log must not get: controls, bidirectional marks
// and whatever else Python does not call printable; `keep_lines` spares line ends and tabs.
py::object printable(const py::object& text, bool keep_lines = false);

// The same of the core's UTF-8, which may be cut anywhere.
py::object shown_text(std::string_view text, bool keep_lines = false);

void bind_errors(py::module_& module);
void bind_lock(py::module_& module);
void bind_records(py::module_& module);
void bind_record_functions(py::module_& module);
void bind_slice(py::module_& module);
void bind_decode(py::module_& module);
void bind_client(py::module_& module);
void bind_exports(py::module_& module);
void bind_compute(py::module_& module);

}  // namespace tradingdata::python
