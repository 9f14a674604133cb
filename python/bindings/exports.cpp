// Rows as JSON text, and over Arrow's PyCapsule interface; and tables of what others export.
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "decode/decode.hpp"
#include "decode/from_arrow.hpp"
#include "export/arrow.hpp"
#include "export/json.hpp"
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

// The values of fields in every row as a JSON object, checked as those of a record are.
std::string constants_as_json(const RowType& type, const py::dict& constants) {
  if (constants.empty()) return {};
  const py::object record = make_record(type, constants.ptr());
  const auto& row = *reinterpret_cast<const RowObject*>(record.ptr());
  Names names;
  for (const auto& [name, value] : constants) names.push_back(name.cast<std::string>());
  return export_json(py::handle(row.owner).cast<const OwnedSlice&>().rows(names), false, true);
}

// A _core.Slice of what `data` exports by __arrow_c_stream__ or __arrow_c_array__. `names` are
// fields by the names that columns have there; `constants` are values of fields in every row.
// Without both, a field without a column is an issue.
py::object from_arrow(const py::object& record, const py::object& data, bool keep_personal_data,
                      const std::map<std::string, std::string>& names, const py::dict& constants) {
  const RowType& type = row_type_given(record);
  const py::object zone_named = attribute(imported("tradingdata._util.time_zones"), "zone_of_text");
  ZoneOffset of_instants;  // theirs are objects of Python
  ZoneOffset of_clock;
  const ArrowOptions options{.keep_personal_data = keep_personal_data,
                             .names = names,
                             .constants = constants_as_json(type, constants),
                             .is_complete = names.empty() && constants.empty(),
                             .offsets_of = [&](const std::string& name) -> ZoneOffsets {
                               const TakenGil gil;
                               const py::object zone = call_python(zone_named, name);
                               of_instants = offset_of_instants(zone);
                               of_clock = offset_of(zone);
                               return {of_instants, of_clock};
                             }};
  try {
    ArrowTable made = table_from(*type.schema, data, options);
    const bool zoned = !made.time_zone.empty();
    return whole_slice(std::move(made.table).build(),
                       zoned ? call_python(zone_named, made.time_zone) : py::none());
  } catch (const UnsupportedColumn& error) {
    throw py::type_error(error.what());
  }
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

py::object arrow_stream(const OwnedSlice& self, const Names& columns, const std::string& types) {
  const Rows rows = self.rows(columns);
  ArrowForm form{.types = named<ArrowTypes>({"shared", "plain", "pandas"}, types)};
  if (!self.zone().is_none()) form.time_zone = arrow_zone(self.zone());
  auto stream = std::make_unique<detail::Taken<ArrowArrayStream>>();
  released([&] { export_stream(rows, form, **stream); });
  py::capsule capsule(stream->get(), stream_name, [](PyObject* dying) {
    void* const held = PyCapsule_GetPointer(dying, stream_name);
    delete static_cast<detail::Taken<ArrowArrayStream>*>(held);  // the stream is its first member
  });
  static_cast<void>(stream.release());
  return capsule;
}

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
  add_functions(module, arrow_functions);
  slice_class(module)
      .def("arrow_stream", &arrow_stream, py::arg("columns"), py::arg("types") = "shared")
      .def("record_texts", &record_texts)
      .def("export_json", &export_rows, py::arg("columns"), py::arg("extra") = false,
           py::arg("lines") = false);
}

}  // namespace tradingdata::python
