// tradingdata._core, as a table of contents: each concept binds itself in a file of its own.
#include <stdexcept>

#include "bindings.hpp"

namespace py = pybind11;

namespace {

constexpr const char* refusal =
    "tradingdata cannot be used in a subinterpreter: use threads or processes";

bool is_main_interpreter() {
  return PyInterpreterState_Get() == PyInterpreterState_Main();
}

}  // namespace

PYBIND11_MODULE(_core_of_main, module, py::mod_gil_not_used()) {
  using namespace tradingdata::python;
  // Since CPython 3.13 the function below always runs in the main interpreter, and this one in the
  // interpreter that imports.
  if (!is_main_interpreter()) throw std::runtime_error(refusal);  // becomes an ImportError
  module.doc() = "The C++ core of tradingdata. Private: use the package `tradingdata` instead.";
  module.attr("__version__") = TRADINGDATA_VERSION;
  module.attr("pybind11_version") = TRADINGDATA_PYBIND11_VERSION;
  bind_errors(module);
  bind_lock(module);
  bind_records(module);
  bind_record_functions(module);
  bind_slice(module);
  bind_compute(module);
  bind_decode(module);
  bind_client(module);
  bind_exports(module);
}

// pybind11 would wait for the GIL of the main interpreter, which waits for this import.
extern "C" PYBIND11_EXPORT PyObject* PyInit__core() {
  if (is_main_interpreter()) return PyInit__core_of_main();
  PyErr_SetString(PyExc_ImportError, refusal);
  return nullptr;
}
