// Columns as the bytes of NumPy arrays, for pandas: values as it holds them, with its own
// marks where there is none.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

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

// The values of a column's rows, with `missing` where there is none: such cells hold zeros.
// Slice and column are copies, which no write to the array can change.
template <typename T, typename Value>
Memory filled(Slice rows, Column column, Arena& memory, T missing, const Value& value) {
  const std::int64_t count = rows.stop - rows.start;
  const auto size = count * static_cast<std::int64_t>(sizeof(T));
  Memory made{memory.take(size), size};
  T* const out = made.as<T>();
  for (std::int64_t i = 0; i < count; ++i) out[i] = value(rows.start + i);
  if (column.nulls == 0) return made;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!column.valid(rows.start + i)) out[i] = missing;
  }
  return made;
}

// The values of a field that is not text, and for integers the mask of those that are missing.
py::tuple array(const OwnedSlice& self, const std::string& name, Arena& memory) {
  const int field = field_named(self.table(), name);
  const Column& column = self.table().column(field);
  const auto with = [&](auto missing, const auto& value) {
    return filled(self.view(), column, memory, missing, value);
  };
  const auto* const whole = column.as<std::int64_t>();
  const auto as_it_is = [=](std::int64_t row) { return whole[row]; };
  switch (self.table().schema().field(field).kind) {
    case Kind::integer:
      return py::make_tuple(with(std::int64_t{0}, as_it_is),
                            with(char{1}, [](std::int64_t) { return char{0}; }));
    case Kind::number:
      return py::make_tuple(
          with(std::numeric_limits<double>::quiet_NaN(),
               [numbers = column.as<double>()](std::int64_t row) { return numbers[row]; }),
          py::none());
    case Kind::timestamp: {
      if (self.zone().is_none()) return py::make_tuple(with(not_a_time, as_it_is), py::none());
      const ZoneOffset offset = offset_of(self.zone());
      const auto instant = [&](std::int64_t row) {
        return column.valid(row) ? whole[row] - offset(whole[row]) : not_a_time;
      };
      return py::make_tuple(with(not_a_time, instant), py::none());
    }
    case Kind::date: {
      const auto* const days = column.as<std::int32_t>();
      const auto midnight = [=](std::int64_t row) { return days[row] * micros_per_day; };
      return py::make_tuple(with(not_a_time, midnight), py::none());
    }
    case Kind::text: break;
  }
  throw py::type_error("a text column is not an array of numbers: use column()");
}

py::list arrays(const OwnedSlice& self, const Names& names) {
  Arena memory(self.size() * static_cast<std::int64_t>(names.size() * sizeof(std::int64_t)));
  py::list made;
  for (const std::string& name : names) made.append(array(self, name, memory));
  return made;
}

// Fills a NumPy array of objects with the texts of a field; what has none keeps what it holds.
void fill_text(const OwnedSlice& self, const std::string& name, const py::buffer& array) {
  const py::buffer_info out = array.request(true);
  if (out.format != "O" || out.ndim != 1 || out.size != self.size() ||
      out.strides.front() != out.itemsize) {
    throw py::value_error("the array must hold one object for each row");
  }
  auto* const objects = static_cast<PyObject**>(out.ptr);
  const int field = field_named(self.table(), name);
  for (std::int64_t row = self.start(); row < self.stop(); ++row) {
    if (!self.table().valid(field, row)) continue;
    PyObject*& object = objects[row - self.start()];
    Py_XSETREF(object, owned(self.columns().cell(field, row)).release().ptr());
  }
}

}  // namespace

void bind_arrays(py::module_& module) {
  py::class_<Memory>(module, "Memory", py::is_final(), py::buffer_protocol())
      .def_buffer(
          [](const Memory& self) { return py::buffer_info(self.as<char>(), self.size, false); });
  slice_class(module)
      .def("arrays", &arrays, py::arg("names"))
      .def("fill_text", &fill_text, py::arg("name"), py::arg("array"));
}

}  // namespace tradingdata::python
