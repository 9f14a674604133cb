// Columns as the bytes of NumPy arrays, for pandas: values as it holds them, with its own
// marks where there is none.
#include <pybind11/pybind11.h>

#include <cstring>
#include <limits>
#include <string>

#include "bindings.hpp"
#include "exports.hpp"
#include "slice.hpp"
#include "table/dictionary.hpp"
#include "wall_clock.hpp"

namespace tradingdata::python {

namespace {

constexpr std::int64_t not_a_time = std::numeric_limits<std::int64_t>::min();  // NumPy's NaT

// A run of rows of one field.
struct Run {
  const Table& table;
  const Column& column;
  int field;
  std::int64_t start;
  std::int64_t length;

  bool valid(std::int64_t i) const { return column.valid(start + i); }
  template <typename T>
  const T* values() const {
    return column.as<T>() + start;
  }
};

Run run_of(const OwnedSlice& self, const std::string& name) {
  const Table& table = self.table();
  const int field = field_named(table, name);
  return {table, table.column(field), field, self.start(), self.size()};
}

py::object uninitialized(std::int64_t bytes) {
  return owned(PyByteArray_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bytes)));
}

template <typename T>
T* values_of(const py::object& bytes) {
  return reinterpret_cast<T*>(PyByteArray_AS_STRING(bytes.ptr()));
}

// A copy, with `missing` for what is null.
template <typename T>
py::object filled(const Run& run, T missing) {
  py::object bytes = uninitialized(run.length * static_cast<std::int64_t>(sizeof(T)));
  if (run.length == 0) return bytes;
  T* const out = values_of<T>(bytes);
  std::memcpy(out, run.values<T>(), static_cast<std::size_t>(run.length) * sizeof(T));
  if (run.column.nulls == 0) return bytes;
  for (std::int64_t i = 0; i < run.length; ++i) {
    if (!run.valid(i)) out[i] = missing;
  }
  return bytes;
}

// True where there is no value.
py::object mask(const Run& run) {
  py::object bytes = uninitialized(run.length);
  char* const out = values_of<char>(bytes);
  for (std::int64_t i = 0; i < run.length; ++i) out[i] = run.valid(i) ? 0 : 1;
  return bytes;
}

py::object instants(const Run& run, const py::object& zone) {
  py::object bytes = filled(run, not_a_time);
  if (zone.is_none()) return bytes;
  WallClock to_utc(zone);
  auto* const micros = values_of<std::int64_t>(bytes);
  for (std::int64_t i = 0; i < run.length; ++i) {
    if (run.valid(i)) micros[i] = to_utc(micros[i]);
  }
  return bytes;
}

py::object midnights(const Run& run) {
  py::object bytes = uninitialized(run.length * static_cast<std::int64_t>(sizeof(std::int64_t)));
  auto* const micros = values_of<std::int64_t>(bytes);
  for (std::int64_t i = 0; i < run.length; ++i) {
    micros[i] = run.valid(i) ? run.values<std::int32_t>()[i] * micros_per_day : not_a_time;
  }
  return bytes;
}

py::tuple array(const OwnedSlice& self, const std::string& name) {
  const Run run = run_of(self, name);
  switch (self.table().schema().field(run.field).kind) {
    case Kind::integer: return py::make_tuple(filled<std::int64_t>(run, 0), mask(run));
    case Kind::number:
      return py::make_tuple(filled(run, std::numeric_limits<double>::quiet_NaN()), py::none());
    case Kind::timestamp: return py::make_tuple(instants(run, self.zone()), py::none());
    case Kind::date: return py::make_tuple(midnights(run), py::none());
    case Kind::text: break;
  }
  throw py::type_error("a text column is not an array of numbers: use column() or codes()");
}

// Calls put(row, made), the row counted from the slice's first one, with a new reference to each
// text of a field, or to each JSON text that the rows have under an unknown name. Throws where none
// could be made.
template <typename Put>
void each_text(const OwnedSlice& self, const std::string& name, const Put& put) {
  const Table& table = self.table();
  const auto check = [](PyObject* made) {
    if (made == nullptr) throw py::error_already_set();
    return made;
  };
  const int field = table.schema().find(name);
  if (field >= 0) {
    for (std::int64_t row = self.start(); row < self.stop(); ++row) {
      if (table.valid(field, row)) put(row - self.start(), check(self.columns().cell(field, row)));
    }
    return;
  }
  const int unknown = columns_named(table, {}, {name}).front() - table.schema().width();
  for (const Extra& extra : table.extras_of(self.start(), self.stop())) {
    if (extra.name == unknown)
      put(extra.row - self.start(), check(make_text(table.extra_json(extra))));
  }
}

// Fills a NumPy array of objects with such text; what has none keeps what it holds.
void fill_text(const OwnedSlice& self, const std::string& name, const py::buffer& array) {
  const py::buffer_info out = array.request(true);
  if (out.format != "O" || out.ndim != 1 || out.size != self.size() ||
      out.strides.front() != out.itemsize) {
    throw py::value_error("the array must hold one object for each row");
  }
  auto* const objects = static_cast<PyObject**>(out.ptr);
  each_text(self, name, [&](std::int64_t row, PyObject* made) { Py_XSETREF(objects[row], made); });
}

// The JSON text of an unknown field, None where a row has none.
py::list extra_texts(const OwnedSlice& self, const std::string& name) {
  py::list texts;
  for (std::int64_t row = 0; row < self.size(); ++row) texts.append(py::none());
  each_text(self, name,
            [&](std::int64_t row, PyObject* made) { PyList_SetItem(texts.ptr(), row, made); });
  return texts;
}

py::tuple codes(const OwnedSlice& self, const std::string& name) {
  const Run run = run_of(self, name);
  if (self.table().schema().field(run.field).kind != Kind::text) {
    throw py::type_error(name + " holds no text, so it has no categories");
  }
  const Categories categories = categories_of(run.table, run.field, run.start, run.length);
  const std::size_t size = categories.codes.size() * sizeof(std::int32_t);
  py::object bytes = uninitialized(static_cast<std::int64_t>(size));
  if (size > 0) std::memcpy(values_of<char>(bytes), categories.codes.data(), size);
  py::list values;
  for (const std::string_view text : categories.values) {
    values.append(owned(make_text(text)));
  }
  return py::make_tuple(bytes, values);
}

}  // namespace

void bind_arrays(py::module_& module) {
  slice_class(module)
      .def("array", &array, py::arg("name"))
      .def("fill_text", &fill_text, py::arg("name"), py::arg("array"))
      .def("extra_texts", &extra_texts, py::arg("name"))
      .def("codes", &codes, py::arg("name"));
}

}  // namespace tradingdata::python
