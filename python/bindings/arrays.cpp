// Columns as the bytes of NumPy arrays, for pandas: values as it holds them, with its own
// marks where there is none.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstring>
#include <limits>
#include <string>

#include "base/memory.hpp"
#include "bindings.hpp"
#include "slice.hpp"
#include "table/row_values.hpp"
#include "values.hpp"

namespace tradingdata::python {

namespace {

constexpr std::int64_t not_a_time = std::numeric_limits<std::int64_t>::min();  // NumPy's NaT

// A cells of rows of one field.
struct ColumnSlice {
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

ColumnSlice cells_of(const OwnedSlice& self, const std::string& name) {
  const Table& table = self.table();
  const int field = field_named(table, name);
  return {table, table.column(field), field, self.start(), self.size()};
}

// A writable buffer for NumPy arrays. Its memory comes from the pool, since the C library returns
// that of a bytearray to the system after each frame.
struct Memory {
  SharedBlock block;
  std::int64_t size;

  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(block.get());
  }
};

template <typename T>
Memory uninitialized(Arena& memory, std::int64_t count) {
  const auto size = count * static_cast<std::int64_t>(sizeof(T));
  return {memory.take(size), size};
}

// A copy, with `missing` for what is null.
template <typename T>
Memory filled(const ColumnSlice& cells, Arena& memory, T missing) {
  Memory copy = uninitialized<T>(memory, cells.length);
  if (cells.length == 0) return copy;
  T* const out = copy.as<T>();
  std::memcpy(out, cells.values<T>(), static_cast<std::size_t>(cells.length) * sizeof(T));
  if (cells.column.nulls == 0) return copy;
  for (std::int64_t i = 0; i < cells.length; ++i) {
    if (!cells.valid(i)) out[i] = missing;
  }
  return copy;
}

// True where there is no value.
Memory mask(const ColumnSlice& cells, Arena& memory) {
  Memory missing = uninitialized<char>(memory, cells.length);
  for (std::int64_t i = 0; i < cells.length; ++i) missing.as<char>()[i] = cells.valid(i) ? 0 : 1;
  return missing;
}

Memory instants(const ColumnSlice& cells, Arena& memory, const py::object& zone) {
  Memory times = filled(cells, memory, not_a_time);
  if (zone.is_none()) return times;
  const ZoneOffset offset = offset_of(zone);
  auto* const micros = times.as<std::int64_t>();
  for (std::int64_t i = 0; i < cells.length; ++i) {
    if (cells.valid(i)) micros[i] -= offset(micros[i]);
  }
  return times;
}

Memory midnights(const ColumnSlice& cells, Arena& memory) {
  Memory days = uninitialized<std::int64_t>(memory, cells.length);
  auto* const micros = days.as<std::int64_t>();
  for (std::int64_t i = 0; i < cells.length; ++i) {
    micros[i] = cells.valid(i) ? cells.values<std::int32_t>()[i] * micros_per_day : not_a_time;
  }
  return days;
}

// The values of a field that is not text, and for integers the mask of those that are missing.
py::tuple array(const OwnedSlice& self, const std::string& name, Arena& memory) {
  const ColumnSlice cells = cells_of(self, name);
  switch (self.table().schema().field(cells.field).kind) {
    case Kind::integer:
      return py::make_tuple(filled<std::int64_t>(cells, memory, 0), mask(cells, memory));
    case Kind::number:
      return py::make_tuple(filled(cells, memory, std::numeric_limits<double>::quiet_NaN()),
                            py::none());
    case Kind::timestamp: return py::make_tuple(instants(cells, memory, self.zone()), py::none());
    case Kind::date: return py::make_tuple(midnights(cells, memory), py::none());
    case Kind::text: break;
  }
  throw py::type_error("a text column is not an array of numbers: use column() or codes()");
}

py::list arrays(const OwnedSlice& self, const Names& names) {
  Arena memory(self.size() * static_cast<std::int64_t>(names.size() * sizeof(std::int64_t)));
  py::list made;
  for (const std::string& name : names) made.append(array(self, name, memory));
  return made;
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
  const ColumnSlice cells = cells_of(self, name);
  if (self.table().schema().field(cells.field).kind != Kind::text) {
    throw py::type_error(name + " holds no text, so it has no categories");
  }
  const Categories categories = categories_of(cells.table, cells.field, cells.start, cells.length);
  const std::size_t size = categories.codes.size() * sizeof(std::int32_t);
  return py::make_tuple(py::bytearray(reinterpret_cast<const char*>(categories.codes.data()), size),
                        list_from(categories.values, make_text));
}

}  // namespace

void bind_arrays(py::module_& module) {
  py::class_<Memory>(module, "Memory", py::is_final(), py::buffer_protocol())
      .def_buffer(
          [](const Memory& self) { return py::buffer_info(self.as<char>(), self.size, false); });
  slice_class(module)
      .def("arrays", &arrays, py::arg("names"))
      .def("fill_text", &fill_text, py::arg("name"), py::arg("array"))
      .def("extra_texts", &extra_texts, py::arg("name"))
      .def("codes", &codes, py::arg("name"));
}

}  // namespace tradingdata::python
