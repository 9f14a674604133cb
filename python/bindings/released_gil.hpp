// The two ways in which a thread beneath C++ frames of ours meets the interpreter: it works without
// the GIL and takes it again, or it runs Python code, which may release the GIL at any time.
//
// While the interpreter ends, CPython before 3.14 ends every other thread at the moment it takes
// the GIL, by unwinding its stack: destructors of ours would then touch Python objects without the
// GIL, and handlers and `noexcept` functions would stop the unwinding, which ends the process by a
// signal. So whatever may take the GIL beneath our frames goes through `or_park`, and never from a
// handler or a destructor other than ReleasedGil's. What else is called of Python's C API runs no
// Python code.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <thread>

namespace tradingdata::python {

namespace py = pybind11;

// The result of `work`, C calls that may take the GIL. A thread that would be ended in it waits for
// the end of the process instead.
template <typename Work>
auto or_park(const Work& work) noexcept {
  try {
    return work();
  } catch (...) {  // C functions throw nothing else; a thread that unwinds must not leave this
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;
  ~ReleasedGil() {
    or_park([this] { PyEval_RestoreThread(state_); });
  }

 private:
  PyThreadState* state_;
};

// Within a ReleasedGil.
class AcquiredGil {
 public:
  AcquiredGil() : state_(or_park([] { return PyGILState_Ensure(); })) {}
  AcquiredGil(const AcquiredGil&) = delete;
  AcquiredGil& operator=(const AcquiredGil&) = delete;
  ~AcquiredGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

// The result of `work`, without the GIL unless it calls Python.
template <typename Work>
auto released_unless(bool calls_python, const Work& work) {
  if (calls_python) return work();
  const ReleasedGil released;
  return work();
}

}  // namespace tradingdata::python
