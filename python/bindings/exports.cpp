// Looks up the columns of an export, with a KeyError that names the missing one.
#include "exports.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>

#include "names.hpp"

namespace tradingdata::python {

namespace py = pybind11;

int field_named(const Table& table, const std::string& name) {
  const int field = table.schema().find(name);
  if (field >= 0) return field;
  PyErr_SetObject(PyExc_KeyError, no_field(table.schema(), py::str(name)).ptr());
  throw py::error_already_set();
}

std::vector<int> columns_named(const Table& table, const Names& fields, const Names& extra) {
  std::vector<int> columns;
  for (const std::string& name : fields) columns.push_back(field_named(table, name));
  const Names& unknown = table.extra_names();
  for (const std::string& name : extra) {
    const auto found = std::find(unknown.begin(), unknown.end(), name);
    if (found == unknown.end()) throw py::key_error("no row has a field \"" + name + "\"");
    columns.push_back(table.schema().width() + static_cast<int>(found - unknown.begin()));
  }
  return columns;
}

}  // namespace tradingdata::python
