// Rows as JSON text.
#include <pybind11/stl.h>

#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "decode/decode.hpp"
#include "export/json.hpp"
#include "slice.hpp"

namespace tradingdata::python {

namespace {

// As they were sent, where the table is a complete response; otherwise from its columns.
py::list record_texts(const OwnedSlice& self) {
  const Table& table = self.table();
  py::list texts;
  if (!table.holds_body()) {
    for (std::int64_t row = self.start(); row < self.stop(); ++row)
      texts.append(py::str(row_as_json(table, row)));
    return texts;
  }
  const std::vector<std::string_view> sent = released([&] { return sent_records(table); });
  for (std::int64_t row = self.start(); row < self.stop(); ++row) {
    const std::string_view text = sent.at(static_cast<std::size_t>(row));
    texts.append(py::str(text.data(), text.size()));
  }
  return texts;
}

py::bytes export_rows(const OwnedSlice& self, const Names& columns, bool extra, bool lines) {
  const Rows rows = self.rows(columns);
  return released([&] { return export_json(rows, extra, lines); });
}

}  // namespace

void bind_exports(py::module_& module) {
  slice_class(module)
      .def("record_texts", &record_texts)
      .def("export_json", &export_rows, py::arg("columns"), py::arg("extra") = false,
           py::arg("lines") = false);
}

}  // namespace tradingdata::python
