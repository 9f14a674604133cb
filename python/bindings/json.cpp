// Records as JSON text, one by one: what an archive keeps of a book.
#include "export/json.hpp"
#include "decode/raw_records.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "columns.hpp"
#include "exports.hpp"
#include "released_gil.hpp"

namespace tradingdata::python {

namespace {

// As they were sent, where the table is a whole answer; else as its columns give them.
py::list record_texts(const Columns& self, std::int64_t start, std::int64_t stop) {
  const Table& table = self.table();
  check_rows(table, start, stop);
  py::list texts;
  if (!table.holds_body) {
    for (std::int64_t row = start; row < stop; ++row)
      texts.append(py::str(row_as_json(table, row)));
    return texts;
  }
  std::vector<std::string_view> sent;
  {
    // The table is immutable and held by `self`.
    const ReleasedGil released;
    sent = sent_records(table);
  }
  for (std::int64_t row = start; row < stop; ++row) {
    const std::string_view text = sent.at(static_cast<std::size_t>(row));
    texts.append(py::str(text.data(), text.size()));
  }
  return texts;
}

}  // namespace

void bind_json(py::module_& module) {
  auto table =
      py::reinterpret_borrow<py::class_<Columns, std::shared_ptr<Columns>>>(module.attr("Table"));
  table.def("record_texts", &record_texts, py::arg("start"), py::arg("stop"));
}

}  // namespace tradingdata::python
