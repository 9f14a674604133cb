// Tables over Arrow's PyCapsule interface.
#include "export/arrow.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "exports.hpp"
#include "from_arrow.hpp"
#include "released_gil.hpp"
#include "slice.hpp"
#include "wall_clock.hpp"

namespace tradingdata::python {

namespace {

constexpr const char* schema_name = "arrow_schema";
constexpr const char* stream_name = "arrow_array_stream";

// What a capsule holds goes with it, unless a consumer took it over.
template <typename T>
void destroy(PyObject* capsule) {
  void* const held = PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
  const std::unique_ptr<T> structure(static_cast<T*>(held));
  if (structure->release != nullptr) structure->release(structure.get());
}

template <typename T>
py::object capsule_of(std::unique_ptr<T> structure, const char* name) {
  PyObject* const capsule = PyCapsule_New(structure.get(), name, destroy<T>);
  if (capsule == nullptr) {
    structure->release(structure.get());
    throw py::error_already_set();
  }
  static_cast<void>(structure.release());
  return py::reinterpret_steal<py::object>(capsule);
}

TextForm form_named(std::string_view text) {
  if (text == "view") return TextForm::view;
  if (text == "small") return TextForm::small;
  if (text == "large") return TextForm::large;
  throw py::value_error("text is view, small or large");
}

// Text as the consumer asked for it, where it asks for these columns; otherwise as it is.
void follow_request(ArrowExport& wanted, const Table& table, const py::object& request) {
  if (request.is_none()) return;
  const auto* const schema =
      static_cast<const ArrowSchema*>(PyCapsule_GetPointer(request.ptr(), schema_name));
  if (schema == nullptr) throw py::error_already_set();
  if (schema->release == nullptr) {
    throw py::value_error("requested_schema was already consumed: export it again");
  }
  if (schema->children == nullptr) return;
  if (schema->n_children != static_cast<std::int64_t>(wanted.columns.size())) return;
  std::vector<ArrowColumn> asked = wanted.columns;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const int column = asked[i].column;
    if (schema->children[i] == nullptr) return;
    const ArrowSchema& child = *schema->children[i];
    const std::string_view name = table.column_name(column);
    if (child.name == nullptr || child.format == nullptr || name != child.name) return;
    const std::string_view format = child.format;
    if (child.dictionary != nullptr && column < table.schema().width())
      asked[i].text = TextForm::category;
    if (format == "u") asked[i].text = TextForm::small;
    if (format == "U") asked[i].text = TextForm::large;
    if (format == "vu") asked[i].text = TextForm::view;
  }
  wanted.columns = std::move(asked);
}

ArrowExport export_of(const OwnedSlice& self, const Names& columns, const Names& extra,
                      const Names& categories, const std::string& text,
                      const py::object& requested_schema) {
  const Table& table = self.table();
  ArrowExport wanted{.start = self.start(), .length = self.size()};
  const TextForm form = form_named(text);
  for (const int column : columns_named(table, columns, extra)) {
    const auto found = std::find(categories.begin(), categories.end(), table.column_name(column));
    wanted.columns.push_back({column, found == categories.end() ? form : TextForm::category});
  }
  follow_request(wanted, table, requested_schema);
  if (!self.zone().is_none()) {
    wanted.time_zone = arrow_zone(self.zone());
    wanted.to_utc = WallClock(self.zone());
  }
  return wanted;
}

py::object arrow_stream(const OwnedSlice& self, const Names& columns, const Names& extra,
                        const Names& categories, const std::string& text,
                        const py::object& requested_schema) {
  const ArrowExport wanted = export_of(self, columns, extra, categories, text, requested_schema);
  auto stream = std::make_unique<ArrowArrayStream>();
  // The table is immutable and held by `self`.
  released_unless(wanted.to_utc != nullptr, [&] { export_stream(self.shared(), wanted, *stream); });
  return capsule_of(std::move(stream), stream_name);
}

py::object arrow_schema(const OwnedSlice& self, const Names& columns, const Names& extra,
                        const Names& categories, const std::string& text) {
  auto schema = std::make_unique<ArrowSchema>();
  const ArrowExport wanted = export_of(self, columns, extra, categories, text, py::none());
  export_schema(self.table(), wanted, *schema);
  return capsule_of(std::move(schema), schema_name);
}

}  // namespace

void bind_arrow(py::module_& module) {
  module.def("from_arrow", &from_arrow, py::arg("record"), py::arg("data"),
             py::arg("keep_personal_data") = false);
  slice_class(module)
      .def("arrow_stream", &arrow_stream, py::arg("columns"), py::arg("extra") = Names(),
           py::arg("categories") = Names(), py::arg("text") = "view",
           py::arg("requested_schema") = py::none())
      .def("arrow_schema", &arrow_schema, py::arg("columns"), py::arg("extra") = Names(),
           py::arg("categories") = Names(), py::arg("text") = "view");
}

}  // namespace tradingdata::python
