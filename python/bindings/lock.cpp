// _core.call_holding: calls a function while it holds a lock, which no exception can leave locked.
// In Python an interrupt may come between the acquisition and the `try` that releases, or in the
// code that releases; here no Python code runs between them but the function.
#include "bindings.hpp"

namespace tradingdata::python {

namespace {

// Releases a `threading.Lock`; an error of the function remains set meanwhile.
class Release {
 public:
  explicit Release(py::handle lock) : lock_(lock) {}
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;
  ~Release() {
    const py::error_scope kept;
    Py_XDECREF(or_park([&] { return PyObject_CallMethod(lock_.ptr(), "release", nullptr); }));
  }

 private:
  py::handle lock_;
};

// Whether the lock was free within some seconds, and the function was called.
bool call_holding(const py::object& lock, const py::object& function, double seconds) {
  const py::object acquired = owned(
      or_park([&] { return PyObject_CallMethod(lock.ptr(), "acquire", "Od", Py_True, seconds); }));
  if (!acquired.is(py::bool_(true))) return false;
  const Release release(lock);
  call_python(function);
  return true;
}

}  // namespace

void bind_lock(py::module_& module) {
  module.def("call_holding", &call_holding, py::arg("lock"), py::arg("function"),
             py::arg("seconds"));
}

}  // namespace tradingdata::python
