#include "rows.hpp"

#include <array>
#include <string>

#include "bindings.hpp"
#include "tradingdata/json.hpp"
#include "tradingdata/records.hpp"
#include "tradingdata/select.hpp"

namespace tradingdata::python {

namespace {

std::array<RowType, record_schemas.size()> row_types;

RowObject* as_row(PyObject* self) { return reinterpret_cast<RowObject*>(self); }

void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_DECREF(as_row(self)->owner);
  PyObject_Free(self);
  Py_DECREF(type);
}

template <std::size_t Index>
PyObject* get_attribute(PyObject* self, PyObject* name) {
  const int field = row_types[Index].names.find(name);
  if (field >= 0) [[likely]] return as_row(self)->columns->cell(field, as_row(self)->row);
  return PyObject_GenericGetAttr(self, name);
}

PyObject* get_field(PyObject* self, void* field) {
  return as_row(self)->columns->cell(static_cast<int>(reinterpret_cast<std::intptr_t>(field)),
                                     as_row(self)->row);
}

int refuse_change(PyObject* self, PyObject* name, PyObject*) {
  PyObject* const module = PyImport_ImportModule("dataclasses");
  if (module == nullptr) return -1;
  PyObject* const error = PyObject_GetAttrString(module, "FrozenInstanceError");
  Py_DECREF(module);
  if (error == nullptr) return -1;
  PyErr_Format(error, "a %s cannot be changed (%R); dataclasses.replace() makes a changed copy",
               Py_TYPE(self)->tp_name, name);
  Py_DECREF(error);
  return -1;
}

PyObject* subscript(PyObject* self, PyObject* key) {
  if (!PyUnicode_Check(key)) {
    PyErr_Format(PyExc_TypeError, "a field is read by its wire name, a str, not by %s",
                 Py_TYPE(key)->tp_name);
    return nullptr;
  }
  const RowType& type = *row_type_of(self);
  const int field = type.names.find_equal(key);
  const RowObject* row = as_row(self);
  if (field >= 0) return row->columns->cell(field, row->row);
  return guarded([&]() -> PyObject* {
    const Table& table = row->columns->table();
    const auto wanted = py::handle(key).cast<std::string>();
    const auto [begin, end] = table.extras_of(row->row);
    for (std::int64_t i = begin; i < end; ++i) {
      const Extra& extra = table.extras[static_cast<std::size_t>(i)];
      if (table.extra_names[static_cast<std::size_t>(extra.name)] == wanted) {
        return extra_value(table, extra).release().ptr();
      }
    }
    PyErr_SetObject(PyExc_KeyError, key);
    return nullptr;
  });
}

bool same_zone(const RowObject* a, const RowObject* b) {
  const int same = PyObject_RichCompareBool(a->columns->zone().ptr(), b->columns->zone().ptr(), Py_EQ);
  if (same < 0) PyErr_Clear();
  return same == 1;
}

PyObject* compare(PyObject* self, PyObject* other, int operation) {
  if ((operation != Py_EQ && operation != Py_NE) || Py_TYPE(self) != Py_TYPE(other)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  const RowObject* a = as_row(self);
  const RowObject* b = as_row(other);
  const bool same = same_row(a->columns->table(), a->row, b->columns->table(), b->row) &&
                    same_zone(a, b);
  return PyBool_FromLong(same == (operation == Py_EQ));
}

Py_hash_t hash(PyObject* self) {
  const auto value =
      static_cast<Py_hash_t>(hash_row(as_row(self)->columns->table(), as_row(self)->row));
  return value == -1 ? -2 : value;
}

PyObject* create(PyTypeObject* type, PyObject* positional, PyObject* keywords) {
  if (PyTuple_GET_SIZE(positional) > 0) {
    PyErr_Format(PyExc_TypeError, "%s takes its fields by keyword only", type->tp_name);
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    for (RowType& row_type : row_types) {
      if (row_type.type == type) return make_record(row_type, keywords).release().ptr();
    }
    PyErr_SetString(PyExc_TypeError, "not a record type");
    return nullptr;
  });
}

// Everything but the fields and the slots is written in Python, once for the three types.
void add_behaviour(py::module_& module, RowType& type, std::size_t index) {
  static std::array<std::vector<PyGetSetDef>, record_schemas.size()> getters;
  std::vector<PyGetSetDef>& fields = getters[index];
  static std::vector<std::string> docs;
  docs.reserve(256);  // the definitions point into it
  for (int i = 0; i < type.schema->width(); ++i) {
    const Field& field = type.schema->fields[static_cast<std::size_t>(i)];
    docs.push_back(std::string(field.doc) + " (" + std::string(name_of(field.kind)) + " | None)");
    fields.push_back({field.name.data(), get_field, nullptr, docs.back().c_str(),
                      reinterpret_cast<void*>(static_cast<std::intptr_t>(i))});
  }
  fields.push_back({nullptr, nullptr, nullptr, nullptr, nullptr});

  constexpr std::array<getattrofunc, record_schemas.size()> attribute_getters{
      get_attribute<0>, get_attribute<1>, get_attribute<2>};
  std::array<PyType_Slot, 12> slots{{
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_getattro, reinterpret_cast<void*>(attribute_getters[index])},
      {Py_tp_setattro, reinterpret_cast<void*>(refuse_change)},
      {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
      {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
      {Py_tp_hash, reinterpret_cast<void*>(hash)},
      {Py_tp_repr, reinterpret_cast<void*>(repr_row)},
      {Py_tp_new, reinterpret_cast<void*>(create)},
      {Py_tp_getset, fields.data()},
      {Py_tp_doc, const_cast<char*>("A record of the Trading Data Service; see tradingdata.")},
      {0, nullptr},
  }};
  static std::array<std::string, record_schemas.size()> names;
  names[index] = "tradingdata." + std::string(type.schema->record);
  PyType_Spec spec{names[index].c_str(), sizeof(RowObject), 0, Py_TPFLAGS_DEFAULT, slots.data()};
  PyObject* const made = PyType_FromSpec(&spec);
  if (made == nullptr) throw py::error_already_set();
  type.type = reinterpret_cast<PyTypeObject*>(made);
  module.add_object(std::string(type.schema->record).c_str(), py::reinterpret_borrow<py::object>(made));
}

}  // namespace

void NameTable::fill(const Schema& schema) {
  slots_.assign(1024, {});
  for (int i = 0; i < schema.width(); ++i) {
    PyObject* const name = PyUnicode_InternFromString(schema.fields[static_cast<std::size_t>(i)].name.data());
    if (name == nullptr) throw py::error_already_set();
    names_.push_back(name);
    std::size_t slot = slot_of(name);
    while (slots_[slot].name != nullptr) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = {name, i};
  }
}

int NameTable::find_equal(PyObject* name) const {
  const int found = find(name);
  if (found >= 0) return found;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (PyUnicode_Compare(names_[i], name) == 0) return static_cast<int>(i);
  }
  return -1;
}

RowType& row_type(const Schema& schema) {
  for (RowType& type : row_types) {
    if (type.schema == &schema) return type;
  }
  throw std::invalid_argument("not one of the service's records");
}

RowType* row_type_named(std::string_view record) {
  for (RowType& type : row_types) {
    if (type.schema->record == record) return &type;
  }
  throw py::value_error("there is no record named " + std::string(record));
}

RowType* row_type_of(PyObject* row) {
  for (RowType& type : row_types) {
    if (type.type == Py_TYPE(row)) return &type;
  }
  return nullptr;
}

PyObject* make_row(const RowType& type, PyObject* owner, Columns* columns, std::int64_t row) {
  RowObject* const made = PyObject_New(RowObject, type.type);
  if (made == nullptr) return nullptr;
  made->owner = Py_NewRef(owner);
  made->columns = columns;
  made->row = row;
  return reinterpret_cast<PyObject*>(made);
}

py::object extra_value(const Table& table, const Extra& extra) {
  const std::string_view json = table.extra_json(extra);
  const py::object text = py::reinterpret_steal<py::object>(make_text(json));
  if (!text) throw py::error_already_set();
  return py::module_::import("json").attr("loads")(text);
}

void bind_records(py::module_& module) {
  import_datetime();
  for (std::size_t i = 0; i < row_types.size(); ++i) {
    row_types[i].schema = record_schemas[i];
    row_types[i].names.fill(*record_schemas[i]);
    add_behaviour(module, row_types[i], i);
  }
}

}  // namespace tradingdata::python
