// CSV export of books (columns of a table) and of results (lists of Python values).
#include "export/csv.hpp"

#include <pybind11/stl.h>

#include <string>
#include <string_view>

#include "bindings.hpp"
#include "export/csv_text.hpp"
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

// A cell of text, for tables whose columns are Python lists.
std::string csv_text(std::string_view text, bool spreadsheet) {
  std::string cell;
  detail::put_csv_text(cell, text, spreadsheet);
  return cell;
}

}  // namespace

void bind_csv(py::module_& module) {
  slice_class(module).def("to_csv", &to_csv, py::arg("columns"), py::arg("extra") = Names(),
                          py::arg("spreadsheet") = false);
  module.def("csv_text", &csv_text, py::arg("text"), py::kw_only(), py::arg("spreadsheet"));
}

}  // namespace tradingdata::python
