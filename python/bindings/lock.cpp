// _core.call_holding: calls a function while it holds a lock, which no exception can leave locked.
// In Python an interrupt may come between the acquisition and the `try` that releases, or in the
// code that releases; here no Python code runs between them but the function.
#include "bindings.hpp"

namespace tradingdata::python {

namespace {

// Releases a `threading.Lock`; an error of the function remains set meanwhile.
class Release {
 public:
  explicit Release(PyObject* lock) : lock_(lock) {}
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;
  ~Release() {
    const py::error_scope kept;
    Py_XDECREF(or_park([&] { return PyObject_CallMethod(lock_, "release", nullptr); }));
  }

 private:
  PyObject* lock_;
};

// Whether the lock was free within some seconds, and the function was called.
PyObject* call_holding(PyObject* /*module*/, PyObject* arguments) {
  return unframed([&]() -> py::object {
    PyObject* lock = nullptr;
    PyObject* function = nullptr;
    double seconds = 0;
    if (PyArg_ParseTuple(arguments, "OOd:call_holding", &lock, &function, &seconds) == 0) {
      throw py::error_already_set();
    }
    py::object acquired = owned(
        or_park([&] { return PyObject_CallMethod(lock, "acquire", "Od", Py_True, seconds); }));
    if (acquired.ptr() != Py_True) return acquired;
    const Release release(lock);
    call_python(function);
    return acquired;
  });
}

PyMethodDef lock_functions[] = {{"call_holding", &call_holding, METH_VARARGS, nullptr}, {}};

}  // namespace

void bind_lock(py::module_& module) {
  add_functions(module, lock_functions);
}

}  // namespace tradingdata::python
