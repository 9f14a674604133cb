// Tables over Arrow's PyCapsule interface: exported, and made from what others export.
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "decode/from_arrow.hpp"
#include "export/arrow.hpp"
#include "rows.hpp"
#include "slice.hpp"
#include "values.hpp"

namespace tradingdata::python {

namespace {

constexpr const char* schema_name = "arrow_schema";
constexpr const char* stream_name = "arrow_array_stream";

template <typename Structure>
Structure& held_by(py::handle capsule, const char* name) {
  void* const held = PyCapsule_GetPointer(capsule.ptr(), name);
  if (held == nullptr) throw py::error_already_set();
  return *static_cast<Structure*>(held);
}

// The table of an object's stream or array, taken out of its capsules. The producer may need the
// GIL, on this thread or on others.
ArrowTable table_from(const Schema& schema, const py::object& data, bool keep_personal_data) {
  // None is passed, because polars 1.3 requires the argument.
  if (const py::object as_stream = attribute(data, "__arrow_c_stream__", py::none());
      !as_stream.is_none()) {
    const py::object capsule = call_python(as_stream, py::none());
    auto& stream = held_by<ArrowArrayStream>(capsule, stream_name);
    return released([&] { return table_from_arrow(schema, stream, keep_personal_data); });
  }
  if (const py::object as_array = attribute(data, "__arrow_c_array__", py::none());
      !as_array.is_none()) {
    const py::object pair = call_python(as_array, py::none());
    if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) {
      throw py::value_error("__arrow_c_array__ must return a tuple of two capsules");
    }
    auto& columns = held_by<ArrowSchema>(PyTuple_GET_ITEM(pair.ptr(), 0), schema_name);
    auto& batch = held_by<ArrowArray>(PyTuple_GET_ITEM(pair.ptr(), 1), "arrow_array");
    return released([&] { return table_from_arrow(schema, columns, batch, keep_personal_data); });
  }
  raise(PyExc_TypeError,
        "from_arrow takes an object with __arrow_c_stream__ or __arrow_c_array__ (a pyarrow "
        "Table, a polars or pandas DataFrame, a DuckDB relation), not %s",
        Py_TYPE(data.ptr())->tp_name);
}

// A _core.Slice of what `data` exports by __arrow_c_stream__ or __arrow_c_array__.
py::object from_arrow(const py::object& record, const py::object& data, bool keep_personal_data) {
  const Schema& schema = *row_type_given(record).schema;
  std::optional<ArrowTable> made;
  try {
    made = table_from(schema, data, keep_personal_data);
  } catch (const UnsupportedColumn& error) {
    throw py::type_error(error.what());
  }
  py::object zone = py::none();
  if (!made->time_zone.empty()) {
    zone = call_python(attribute(imported("tradingdata._util.time_zones"), "zone_of_text"),
                       made->time_zone);
    to_wall_clock(made->table, offset_of(zone, true));
  }
  return whole_slice(std::move(made->table).build(), zone);
}

// A structure in a capsule, with which it goes unless a consumer took it over.
template <typename T>
py::object capsule_of(std::unique_ptr<detail::Taken<T>> structure, const char* name) {
  py::capsule capsule(structure->get(), name, [](PyObject* dying) {
    void* const held = PyCapsule_GetPointer(dying, PyCapsule_GetName(dying));
    delete static_cast<detail::Taken<T>*>(held);  // the structure is its first member
  });
  static_cast<void>(structure.release());
  return capsule;
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
    if (schema->children[i] == nullptr) return;
    const ArrowSchema& child = *schema->children[i];
    const std::string_view name = table.schema().field(asked[i].column).name;
    if (child.name == nullptr || child.format == nullptr || name != child.name) return;
    const std::string_view format = child.format;
    if (format == "u") asked[i].text = TextForm::small;
    if (format == "U") asked[i].text = TextForm::large;
    if (format == "vu") asked[i].text = TextForm::view;
  }
  wanted.columns = std::move(asked);
}

ArrowExport export_of(const OwnedSlice& self, const Names& columns) {
  ArrowExport wanted{.start = self.start(), .length = self.size()};
  for (const int column : columns_named(self.table(), columns)) wanted.columns.push_back({column});
  if (!self.zone().is_none()) wanted.time_zone = arrow_zone(self.zone());
  return wanted;
}

py::object arrow_stream(const OwnedSlice& self, const Names& columns, const std::string& text,
                        const py::object& requested_schema) {
  ArrowExport wanted = export_of(self, columns);
  const TextForm form = named<TextForm>({"view", "small", "large"}, text);
  for (ArrowColumn& column : wanted.columns) column.text = form;
  follow_request(wanted, self.table(), requested_schema);
  wanted.offset = offset_of(self.zone());
  auto stream = std::make_unique<detail::Taken<ArrowArrayStream>>();
  // The table is immutable and held by `self`.
  released_unless(wanted.offset != nullptr,
                  [&] { export_stream(self.shared(), wanted, **stream); });
  return capsule_of(std::move(stream), stream_name);
}

py::object arrow_schema(const OwnedSlice& self, const Names& columns) {
  auto schema = std::make_unique<detail::Taken<ArrowSchema>>();
  export_schema(self.table().schema(), export_of(self, columns), **schema);
  return capsule_of(std::move(schema), schema_name);
}

}  // namespace

void bind_arrow(py::module_& module) {
  module.def("from_arrow", &from_arrow, py::arg("record"), py::arg("data"),
             py::arg("keep_personal_data") = false);
  slice_class(module)
      .def("arrow_stream", &arrow_stream, py::arg("columns"), py::arg("text") = "view",
           py::arg("requested_schema") = py::none())
      .def("arrow_schema", &arrow_schema, py::arg("columns"));
}

}  // namespace tradingdata::python
