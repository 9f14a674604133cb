// The record types are heap types built from the schema. They use CPython's slots directly,
// because reading fields of rows is the hot path of user code.
#include "rows.hpp"

#include <array>
#include <string>

#include "bindings.hpp"
#include "extras.hpp"
#include "field_values.hpp"
#include "slice.hpp"
#include "table/records.hpp"
#include "table/row_selection.hpp"

namespace tradingdata::python {

namespace {

std::array<RowType, record_schemas.size()> row_types;

// A type points into its definitions for as long as it lives, which is as long as the process.
struct Definitions {
  std::string name;
  std::string doc;
  std::vector<std::string> field_docs;
  std::vector<PyGetSetDef> fields;
};
std::array<Definitions, record_schemas.size()> definitions_of_types;

RowObject* as_row(PyObject* self) {
  return reinterpret_cast<RowObject*>(self);
}

void row_dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF(as_row(self)->owner);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

// There is no tp_clear: a row never changes, and a cycle through its zone is broken in the zone.
int row_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_row(self)->owner);
  return 0;
}

// Explains a missing attribute that a person may have meant as a field; protocols that probe for
// names with an underscore do not pay for that.
void explain_missing(PyObject* self, PyObject* name) {
  if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return;
  if (!PyUnicode_Check(name) || PyUnicode_GET_LENGTH(name) == 0) return;
  if (PyUnicode_READ_CHAR(name, 0) == '_') return;
  PyErr_Clear();
  guarded([&]() -> PyObject* {
    const py::module_ records = py::module_::import("tradingdata.books.records");
    const py::object error = records.attr("no_attribute")(py::handle(self), py::handle(name));
    PyErr_SetObject(PyExc_AttributeError, error.ptr());
    return nullptr;
  });
}

template <std::size_t Index>
PyObject* get_attribute(PyObject* self, PyObject* name) {
  const int field = row_types[Index].names.find(name);
  if (field >= 0) [[likely]]
    return as_row(self)->columns->cell(field, as_row(self)->row);
  PyObject* const value = PyObject_GenericGetAttr(self, name);
  if (value == nullptr) explain_missing(self, name);
  return value;
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
  return guarded([&]() -> PyObject* {
    const RowObject* const row = as_row(self);
    const int field = row_type_of(self)->names.find_equal(key);
    if (field >= 0) return row->columns->cell(field, row->row);
    py::object value = find_extra(row->columns->table(), row->row, key);
    if (!value) PyErr_SetObject(PyExc_KeyError, no_field(*row_type_of(self)->schema, key).ptr());
    return value.release().ptr();
  });
}

PyObject* compare(PyObject* self, PyObject* other, int operation) {
  if ((operation != Py_EQ && operation != Py_NE) || Py_TYPE(self) != Py_TYPE(other)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  const RowObject* a = as_row(self);
  const RowObject* b = as_row(other);
  bool same = same_row(a->columns->table(), a->row, b->columns->table(), b->row);
  if (same) {  // equal clock times in different zones are different times
    const int same_zone =
        PyObject_RichCompareBool(a->columns->zone().ptr(), b->columns->zone().ptr(), Py_EQ);
    if (same_zone < 0) return nullptr;
    same = same_zone != 0;
  }
  return PyBool_FromLong(same == (operation == Py_EQ));
}

// Python's own hash of bytes is seeded in each process: no service can make rows collide.
Py_hash_t hash(PyObject* self) {
  PyObject* const bytes = guarded([&] {
    std::string content;
    append_row(content, as_row(self)->columns->table(), as_row(self)->row);
    return py::bytes(content).release().ptr();
  });
  if (bytes == nullptr) return -1;
  const Py_hash_t value = PyObject_Hash(bytes);
  Py_DECREF(bytes);
  return value;
}

PyObject* create(PyTypeObject* type, PyObject* positional, PyObject* keywords) {
  if (PyTuple_GET_SIZE(positional) > 0) {
    PyErr_Format(PyExc_TypeError, "%s takes its fields by keyword only", type->tp_name);
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    for (const RowType& row_type : row_types) {
      if (row_type.type == type) return make_record(row_type, keywords).release().ptr();
    }
    PyErr_SetString(PyExc_TypeError, "not a record type");
    return nullptr;
  });
}

// What help() and a notebook's tooltip show; the first line is read as the signature.
std::string doc_of(const Schema& schema) {
  std::string doc(schema.record);
  doc += "(*";
  for (const Field& field : schema.fields) doc += ", " + std::string(field.name) + "=None";
  doc += ")\n--\n\n";
  doc += "An immutable record of the Trading Data Service, constructed from keywords.\n\nArgs:\n";
  for (const Field& field : schema.fields) {
    doc += "    " + std::string(field.name) + ": " + std::string(field.doc) + ".\n";
  }
  return doc;
}

std::string doc_of(const Field& field) {
  return std::string(field.doc) + " (" + std::string(name_of(field.kind)) + " | None)";
}

// Everything but the fields and the slots is written in Python, once for the three types.
void add_type(py::module_& module, RowType& type, std::size_t index) {
  Definitions& definitions = definitions_of_types[index];
  definitions.name = "tradingdata." + std::string(type.schema->record);
  definitions.doc = doc_of(*type.schema);
  for (const Field& field : type.schema->fields) definitions.field_docs.push_back(doc_of(field));
  for (int i = 0; i < type.schema->width(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    definitions.fields.push_back({type.schema->fields[at].name.data(), get_field, nullptr,
                                  definitions.field_docs[at].c_str(),
                                  reinterpret_cast<void*>(static_cast<std::intptr_t>(i))});
  }
  definitions.fields.push_back({nullptr, nullptr, nullptr, nullptr, nullptr});

  constexpr std::array<getattrofunc, record_schemas.size()> attribute_getters{
      get_attribute<0>, get_attribute<1>, get_attribute<2>};
  std::array<PyType_Slot, 13> slots{{
      {Py_tp_dealloc, reinterpret_cast<void*>(row_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(row_traverse)},
      {Py_tp_getattro, reinterpret_cast<void*>(attribute_getters[index])},
      {Py_tp_setattro, reinterpret_cast<void*>(refuse_change)},
      {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
      {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
      {Py_tp_hash, reinterpret_cast<void*>(hash)},
      {Py_tp_repr, reinterpret_cast<void*>(repr_row)},
      {Py_tp_new, reinterpret_cast<void*>(create)},
      {Py_tp_getset, definitions.fields.data()},
      {Py_tp_doc, definitions.doc.data()},
      {0, nullptr},
  }};
  PyType_Spec spec{definitions.name.c_str(), sizeof(RowObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots.data()};
  const py::object made = owned(PyType_FromSpec(&spec));
  module.add_object(std::string(type.schema->record).c_str(), made);
  type.type = reinterpret_cast<PyTypeObject*>(made.inc_ref().ptr());
}

}  // namespace

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
  RowObject* const made = PyObject_GC_New(RowObject, type.type);
  if (made == nullptr) return nullptr;
  made->owner = Py_NewRef(owner);
  made->columns = columns;
  made->row = row;
  if (columns->is_in_cycles()) PyObject_GC_Track(made);
  return reinterpret_cast<PyObject*>(made);
}

py::object make_row(const py::object& slice, std::int64_t row) {
  const auto& owner = slice.cast<const OwnedSlice&>();
  const RowType& type = row_type(owner.table().schema());
  return owned(make_row(type, slice.ptr(), &owner.columns(), owner.start() + row));
}

void bind_records(py::module_& module) {
  import_datetime();
  import_datetime_for_values();
  make_iterator_type();
  for (std::size_t i = 0; i < row_types.size(); ++i) {
    row_types[i].schema = record_schemas[i];
    row_types[i].names.fill(*record_schemas[i]);
    add_type(module, row_types[i], i);
  }
}

}  // namespace tradingdata::python
