// Tables over Arrow's PyCapsule interface: exported, and made from what others export.
#include <pybind11/stl.h>

#include <map>
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
ArrowTable table_from(const Schema& schema, const py::object& data, const ArrowOptions& options) {
  // None is passed, because polars 1.3 requires the argument.
  if (const py::object as_stream = attribute(data, "__arrow_c_stream__", py::none());
      !as_stream.is_none()) {
    const py::object capsule = call_python(as_stream, py::none());
    auto& stream = held_by<ArrowArrayStream>(capsule, stream_name);
    return released([&] { return table_from_arrow(schema, stream, options); });
  }
  if (const py::object as_array = attribute(data, "__arrow_c_array__", py::none());
      !as_array.is_none()) {
    const py::object pair = call_python(as_array, py::none());
    if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) {
      throw py::value_error("__arrow_c_array__ must return a tuple of two capsules");
    }
    auto& columns = held_by<ArrowSchema>(PyTuple_GET_ITEM(pair.ptr(), 0), "arrow_schema");
    auto& batch = held_by<ArrowArray>(PyTuple_GET_ITEM(pair.ptr(), 1), "arrow_array");
    return released([&] { return table_from_arrow(schema, columns, batch, options); });
  }
  raise(PyExc_TypeError,
        "from_arrow takes an object with __arrow_c_stream__ or __arrow_c_array__ (a pyarrow "
        "Table, a polars or pandas DataFrame, a DuckDB relation), not %s",
        Py_TYPE(data.ptr())->tp_name);
}

// Whether a time of the table is the second of two equal times on the clock of its zone.
bool has_fold(const TableBuilder& table, const py::object& zone) {
  const ZoneOffset of_instant = offset_of(zone, true);
  const ZoneOffset of_clock = offset_of(zone);
  const Table& filled = table.table();
  for (int field = 0; field < filled.schema().width(); ++field) {
    if (filled.schema().field(field).kind != Kind::timestamp) continue;
    const auto* const times = filled.column(field).as<std::int64_t>();
    for (std::int64_t row = 0; row < filled.rows(); ++row) {
      if (!filled.valid(field, row)) continue;
      const std::int64_t offset = of_instant(times[row]);
      if (of_clock(times[row] + offset) != offset) return true;
    }
  }
  return false;
}

// A _core.Slice of what `data` exports by __arrow_c_stream__ or __arrow_c_array__. `names` are
// fields by the names that columns have there; `constants` are values of fields in every row.
// Without both, a field without a column is an issue.
py::object from_arrow(const py::object& record, const py::object& data, bool keep_personal_data,
                      const std::map<std::string, std::string>& names, const py::dict& constants) {
  const Schema& schema = *row_type_given(record).schema;
  ArrowOptions options{.keep_personal_data = keep_personal_data,
                       .names = names,
                       .is_complete = names.empty() && constants.empty()};
  for (const auto& [name, value] : constants) options.constants.insert(name.cast<std::string>());
  std::optional<ArrowTable> made;
  try {
    made = table_from(schema, data, options);
  } catch (const UnsupportedColumn& error) {
    throw py::type_error(error.what());
  }
  py::object zone = py::none();
  if (!made->time_zone.empty()) {
    const auto zone_named = attribute(imported("tradingdata._util.time_zones"), "zone_of_text");
    zone = call_python(zone_named, made->time_zone);
    // A clock time names one instant only: such times are kept in UTC.
    if (has_fold(made->table, zone)) zone = call_python(zone_named, "UTC");
    to_wall_clock(made->table, offset_of(zone, true));
  }
  for (const auto& [name, value] : constants) {
    put_constant(made->table, field_named(made->table.table(), name.cast<std::string>()), value);
  }
  return whole_slice(std::move(made->table).build(), zone);
}

// Unframed, since a stream may be a generator that waits.
PyObject* from_arrow_of(PyObject* /*module*/, PyObject* arguments) {
  return unframed([&] {
    PyObject* record = nullptr;
    PyObject* data = nullptr;
    int keep_personal_data = 0;
    const py::dict none;
    PyObject* names = none.ptr();
    PyObject* constants = none.ptr();
    if (PyArg_ParseTuple(arguments, "OO|pO!O!:from_arrow", &record, &data, &keep_personal_data,
                         &PyDict_Type, &names, &PyDict_Type, &constants) == 0) {
      throw py::error_already_set();
    }
    return from_arrow(py::reinterpret_borrow<py::object>(record),
                      py::reinterpret_borrow<py::object>(data), keep_personal_data != 0,
                      py::handle(names).cast<std::map<std::string, std::string>>(),
                      py::reinterpret_borrow<py::dict>(constants));
  });
}

PyMethodDef arrow_functions[] = {{"from_arrow", &from_arrow_of, METH_VARARGS, nullptr}, {}};

py::object arrow_stream(const OwnedSlice& self, const Names& columns, const std::string& text) {
  const Rows rows = self.rows(columns);
  ArrowForm form{.text = named<TextForm>({"view", "small", "large"}, text)};
  if (!self.zone().is_none()) form.time_zone = arrow_zone(self.zone());
  auto stream = std::make_unique<detail::Taken<ArrowArrayStream>>();
  released_unless(rows.offset != nullptr, [&] { export_stream(rows, form, **stream); });
  py::capsule capsule(stream->get(), stream_name, [](PyObject* dying) {
    void* const held = PyCapsule_GetPointer(dying, stream_name);
    delete static_cast<detail::Taken<ArrowArrayStream>*>(held);  // the stream is its first member
  });
  static_cast<void>(stream.release());
  return capsule;
}

}  // namespace

void bind_arrow(py::module_& module) {
  add_functions(module, arrow_functions);
  slice_class(module).def("arrow_stream", &arrow_stream, py::arg("columns"),
                          py::arg("text") = "view");
}

}  // namespace tradingdata::python
