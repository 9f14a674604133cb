// Records made by keyword, and their repr.
#include "rows.hpp"

#include <datetime.h>

#include <cmath>
#include <string>

#include "tradingdata/text.hpp"

namespace tradingdata::python {

namespace {

[[noreturn]] void refuse(const Field& field, PyObject* value, const char* wanted) {
  PyErr_Format(PyExc_TypeError, "%s takes %s or None, not %R", field.name.data(), wanted, value);
  throw py::error_already_set();
}

std::int64_t integer_of(const Field& field, PyObject* value) {
  if (!PyLong_Check(value) || PyBool_Check(value)) refuse(field, value, "an int");
  const long long result = PyLong_AsLongLong(value);
  if (result == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return result;
}

double number_of(const Field& field, PyObject* value) {
  if (PyBool_Check(value) || !(PyFloat_Check(value) || PyLong_Check(value))) {
    refuse(field, value, "a float");
  }
  const double result = PyFloat_AsDouble(value);
  if (result == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  if (!std::isfinite(result)) refuse(field, value, "a finite float");
  return result;
}

std::int32_t days_of(PyObject* value) {
  return days_from_civil(
      {PyDateTime_GET_YEAR(value), PyDateTime_GET_MONTH(value), PyDateTime_GET_DAY(value)});
}

std::int64_t micros_of(const Field& field, PyObject* value) {
  if (!PyDateTime_Check(value)) refuse(field, value, "a datetime");
  const int seconds = PyDateTime_DATE_GET_HOUR(value) * 3600 +
                      PyDateTime_DATE_GET_MINUTE(value) * 60 + PyDateTime_DATE_GET_SECOND(value);
  return days_of(value) * micros_per_day + seconds * micros_per_second +
         PyDateTime_DATE_GET_MICROSECOND(value);
}

TextView text_of(Table& table, const Field& field, PyObject* value) {
  if (!PyUnicode_Check(value)) refuse(field, value, "a str");
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(value, &size);
  if (text == nullptr) throw py::error_already_set();
  return table.keep_text({text, static_cast<std::size_t>(size)});
}

// The times of one record stand in one zone, or in none.
void take_zone(const Field& field, PyObject* value, py::object& zone, bool& known) {
  const py::object its_zone =
      py::reinterpret_borrow<py::object>(PyDateTime_DATE_GET_TZINFO(value));
  if (known && !its_zone.equal(zone)) {
    PyErr_Format(PyExc_ValueError, "%s stands in another time zone than the times before it",
                 field.name.data());
    throw py::error_already_set();
  }
  zone = its_zone;
  known = true;
}

[[noreturn]] void refuse_name(const RowType& type, PyObject* name) {
  PyErr_Format(PyExc_TypeError, "%s has no field %R", type.type->tp_name, name);
  throw py::error_already_set();
}

}  // namespace

py::object make_record(RowType& type, PyObject* keywords) {
  if (PyDateTimeAPI == nullptr) PyDateTime_IMPORT;  // the header keeps one pointer a file
  if (PyDateTimeAPI == nullptr) throw py::error_already_set();
  auto table = std::make_shared<Table>(*type.schema);
  table->reserve(1);
  table->masked = false;
  py::object zone = py::none();
  bool zone_known = false;
  for (int field = 0; field < type.schema->width(); ++field) table->set_null(field, 0);
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (keywords != nullptr && PyDict_Next(keywords, &position, &key, &value) != 0) {
    const int index = type.names.find_equal(key);
    if (index < 0) refuse_name(type, key);
    if (value == Py_None) continue;
    const Field& field = type.schema->fields[static_cast<std::size_t>(index)];
    Column& column = table->column(index);
    switch (field.kind) {
      case Kind::text: *column.as<TextView>() = text_of(*table, field, value); break;
      case Kind::integer: *column.as<std::int64_t>() = integer_of(field, value); break;
      case Kind::number: *column.as<double>() = number_of(field, value); break;
      case Kind::timestamp:
        *column.as<std::int64_t>() = micros_of(field, value);
        take_zone(field, value, zone, zone_known);
        break;
      case Kind::date:
        if (!PyDate_Check(value) || PyDateTime_Check(value)) refuse(field, value, "a date");
        *column.as<std::int32_t>() = days_of(value);
        break;
    }
    *column.validity = ~std::uint64_t{0};
    column.nulls = 0;
  }
  table->set_rows(1);
  const py::object owner = py::cast(std::make_shared<Columns>(std::move(table), std::move(zone)));
  PyObject* const row = make_row(type, owner.ptr(), owner.cast<Columns*>(), 0);
  if (row == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(row);
}

PyObject* repr_row(PyObject* self) {
  const RowType& type = *row_type_of(self);
  const auto* row = reinterpret_cast<RowObject*>(self);
  const Table& table = row->columns->table();
  return guarded([&] {
    py::list parts;
    for (int i = 0; i < type.schema->width(); ++i) {
      if (!table.valid(i, row->row)) continue;
      const Field& field = type.schema->fields[static_cast<std::size_t>(i)];
      if (field.kind == Kind::text && table.text(i, row->row).empty()) continue;
      py::object value = py::reinterpret_steal<py::object>(row->columns->cell(i, row->row));
      if (!value) throw py::error_already_set();
      if (field.personal) value = py::str(masked(table.text(i, row->row)));
      parts.append(py::str("{}={!r}").format(field.name.data(), value));
    }
    const auto [begin, end] = table.extras_of(row->row);
    if (end > begin) parts.append(py::str("<{} unknown>").format(end - begin));
    const py::str fields = py::str(", ").attr("join")(parts);
    return py::str("{}({})").format(type.schema->record.data(), fields).release().ptr();
  });
}

}  // namespace tradingdata::python
