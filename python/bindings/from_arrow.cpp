// Tables made from what other libraries export over Arrow's PyCapsule interface.
#include "decode/arrow/from_arrow.hpp"

#include <optional>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "from_arrow.hpp"
#include "python_calls.hpp"
#include "released_gil.hpp"
#include "rows.hpp"
#include "slice.hpp"
#include "wall_clock.hpp"

namespace tradingdata::python {

namespace {

template <typename Structure>
Structure& held_by(py::handle capsule, const char* name) {
  void* const held = PyCapsule_GetPointer(capsule.ptr(), name);
  if (held == nullptr) throw py::error_already_set();
  return *static_cast<Structure*>(held);
}

// The object's stream, taken out of its capsule.
ArrowArrayStream stream_from(const py::object& data) {
  if (const py::object as_stream = attribute(data, "__arrow_c_stream__", py::none());
      !as_stream.is_none()) {
    // Passed, because polars 1.3 requires the argument.
    const py::object capsule = call_python(as_stream, py::none());
    return std::exchange(held_by<ArrowArrayStream>(capsule, "arrow_array_stream"),
                         ArrowArrayStream{});
  }
  if (const py::object as_array = attribute(data, "__arrow_c_array__", py::none());
      !as_array.is_none()) {
    const py::object pair = call_python(as_array, py::none());
    if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) {
      throw py::value_error("__arrow_c_array__ must return a tuple of two capsules");
    }
    return stream_of(held_by<ArrowSchema>(PyTuple_GET_ITEM(pair.ptr(), 0), "arrow_schema"),
                     held_by<ArrowArray>(PyTuple_GET_ITEM(pair.ptr(), 1), "arrow_array"));
  }
  raise(PyExc_TypeError,
        "from_arrow takes an object with __arrow_c_stream__ or __arrow_c_array__ (a pyarrow "
        "Table, a polars or pandas DataFrame, a DuckDB relation), not %s",
        Py_TYPE(data.ptr())->tp_name);
}

}  // namespace

py::object from_arrow(const py::object& record, const py::object& data, bool keep_personal_data) {
  const Schema& schema = *row_type_given(record).schema;
  ArrowArrayStream stream = stream_from(data);
  std::optional<ArrowTable> made;
  try {
    // The producer may need the GIL, on this thread or on others.
    const ReleasedGil released;
    made = table_from_arrow(schema, stream, keep_personal_data);
  } catch (const UnsupportedColumn& error) {
    throw py::type_error(error.what());
  }
  py::object zone = py::none();
  if (!made->time_zone.empty()) {
    zone = call_python(attribute(imported("tradingdata._util.time_zones"), "zone_of_arrow"),
                       made->time_zone);
    to_wall_clock(made->table, WallClock::to_wall(zone));
  }
  return whole_slice(std::move(made->table).build(), zone);
}

}  // namespace tradingdata::python
