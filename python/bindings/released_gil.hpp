// Releases the GIL while C++ works. Only for code that touches no Python object.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <thread>

namespace tradingdata::python {

namespace py = pybind11;

class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

  // While the interpreter ends, taking the GIL ends this thread by unwinding it: through a cleanup
  // that an exception is already running, and so into std::terminate. The thread waits for the end
  // of the process instead, whether it learns of it before or while it waits for the GIL.
  ~ReleasedGil() {
    if (is_finalizing()) park();
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      park();  // within the handler: an unwinding thread must not leave it
    }
  }

  static bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
  }

 private:
  [[noreturn]] static void park() {
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }

  PyThreadState* state_;
};

// The result of `work`, without the GIL unless it calls Python.
template <typename Work>
auto released_unless(bool calls_python, const Work& work) {
  if (calls_python) return work();
  const ReleasedGil released;
  return work();
}

// Runs Python's signal handlers, from within a ReleasedGil; what they raise is thrown.
inline void check_signals() {
  const py::gil_scoped_acquire acquired;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace tradingdata::python
