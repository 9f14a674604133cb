// CSV export.
#include "export/csv.hpp"

#include <pybind11/stl.h>

#include <string>

#include "bindings.hpp"
#include "exports.hpp"
#include "released_gil.hpp"
#include "slice.hpp"
#include "wall_clock.hpp"

namespace tradingdata::python {

namespace {

py::bytes to_csv(const OwnedSlice& self, const Names& columns, const Names& extra,
                 bool spreadsheet) {
  const Table& table = self.table();
  CsvOptions options{.start = self.start(),
                     .length = self.size(),
                     .columns = columns_named(table, columns, extra),
                     .spreadsheet = spreadsheet};
  if (!self.zone().is_none()) options.offset = WallClock::offset_of(self.zone());
  // The table is immutable and held by `self`.
  return released_unless(options.offset != nullptr, [&] { return rows_as_csv(table, options); });
}

}  // namespace

void bind_csv(py::module_& module) {
  slice_class(module).def("to_csv", &to_csv, py::arg("columns"), py::arg("extra") = Names(),
                          py::arg("spreadsheet") = false);
}

}  // namespace tradingdata::python
