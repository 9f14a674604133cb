// Tables over Arrow's PyCapsule interface: exported, and made from what others export.
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "decode/from_arrow.hpp"
#include "export/arrow.hpp"
#include "rows.hpp"
#include "slice.hpp"
#include "values.hpp"

namespace tradingdata::python {

namespace {

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
    auto& columns = held_by<ArrowSchema>(PyTuple_GET_ITEM(pair.ptr(), 0), "arrow_schema");
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

py::object arrow_stream(const OwnedSlice& self, const Names& columns, const std::string& text) {
  ArrowExport wanted{.start = self.start(),
                     .length = self.size(),
                     .columns = columns_named(self.table(), columns),
                     .text = named<TextForm>({"view", "small", "large"}, text)};
  if (!self.zone().is_none()) wanted.time_zone = arrow_zone(self.zone());
  wanted.offset = offset_of(self.zone());
  auto stream = std::make_unique<detail::Taken<ArrowArrayStream>>();
  released_unless(wanted.offset != nullptr,
                  [&] { export_stream(self.shared(), wanted, **stream); });
  py::capsule capsule(stream->get(), stream_name, [](PyObject* dying) {
    void* const held = PyCapsule_GetPointer(dying, stream_name);
    delete static_cast<detail::Taken<ArrowArrayStream>*>(held);  // the stream is its first member
  });
  static_cast<void>(stream.release());
  return capsule;
}

}  // namespace

void bind_arrow(py::module_& module) {
  module.def("from_arrow", &from_arrow, py::arg("record"), py::arg("data"),
             py::arg("keep_personal_data") = false);
  slice_class(module).def("arrow_stream", &arrow_stream, py::arg("columns"),
                          py::arg("text") = "view");
}

}  // namespace tradingdata::python
