// The GIL, released while C++ works: only where nothing of Python's is touched.
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

  // While the interpreter ends, taking the GIL ends this thread by unwinding it: a thread that
  // knows waits for the process to end instead, and one that is caught may unwind through here.
  ~ReleasedGil() noexcept(false) {
    while (is_finalizing()) std::this_thread::sleep_for(std::chrono::hours(1));
    PyEval_RestoreThread(state_);
  }

  static bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
  }

 private:
  PyThreadState* state_;
};

}  // namespace tradingdata::python
