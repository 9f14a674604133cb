// The types are heap types built from a schema. They use CPython's slots directly,
// because reading fields of rows is the hot path of user code.
#include "rows.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>

#include "bindings.hpp"
#include "slice.hpp"
#include "table/records.hpp"
#include "table/rows.hpp"
#include "values.hpp"

namespace tradingdata::python {

namespace {

// A type that is made at run time, with the schema that its tables share.
struct MadeRowType final : OwnedSchema, RowType {
  using OwnedSchema::OwnedSchema;
};

// Of the service's records; never freed, since threads may run until the process ends.
constinit std::array<RowType*, record_schemas.size()> service_types{};

RowObject* as_row(PyObject* self) {
  return reinterpret_cast<RowObject*>(self);
}

void deallocate(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF(as_row(self)->owner);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

// There is no tp_clear: a row never changes, and a cycle through its zone is broken in the zone.
int visit_owner(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_row(self)->owner);
  return 0;
}

// Sets the error that a function of the package makes of a row and a name.
void set_error(Function maker, PyObject* self, PyObject* name) {
  guarded([&]() -> PyObject* {
    const py::object error = call_python(handed_over(maker), py::handle(self), py::handle(name));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    return nullptr;
  });
}

// Explains a missing attribute that a person may have meant as a field; protocols that probe for
// names with an underscore do not pay for that.
PyObject* explain_missing(PyObject* self, PyObject* name) {
  if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return nullptr;
  if (!PyUnicode_Check(name) || PyUnicode_GET_LENGTH(name) == 0) return nullptr;
  if (PyUnicode_READ_CHAR(name, 0) == '_') return nullptr;
  PyErr_Clear();
  // `dict(row)` and `**row` call this, and would replace the message of an AttributeError.
  if (PyUnicode_CompareWithASCIIString(name, "keys") == 0) {
    PyObject* const length = PyUnicode_InternFromString("__len__");
    PyObject* const refusal = length == nullptr ? nullptr : PyObject_GenericGetAttr(self, length);
    Py_XDECREF(length);
    return refusal;  // raises when it is called
  }
  set_error(Function::no_attribute, self, name);
  return nullptr;
}

PyObject* get_attribute(PyObject* self, PyObject* name) {
  Columns& columns = *as_row(self)->columns;
  const int field = columns.find(name);
  if (field >= 0) [[likely]]
    return columns.cell(field, as_row(self)->row);
  PyObject* const value = PyObject_GenericGetAttr(self, name);
  return value == nullptr ? explain_missing(self, name) : value;
}

PyObject* get_field(PyObject* self, void* field) {
  return as_row(self)->columns->cell(static_cast<int>(reinterpret_cast<std::intptr_t>(field)),
                                     as_row(self)->row);
}

int refuse_change(PyObject* self, PyObject* name, PyObject*) {
  set_error(Function::frozen, self, name);
  return -1;
}

// A row is not a mapping: the service may name a field `keys` or `get`. What takes a row for one
// ends here, with what to write instead. `list`, `in` and SQL drivers ask for positions and a
// length; that a row has no `__iter__` keeps pandas and others from taking it for a list.
void refuse_mapping(PyObject* self) {
  PyErr_Format(PyExc_TypeError,
               "a %s is not a mapping: use its _asdict(), or to_dicts() of its table",
               row_type_of(self)->schema->record.data());
}

PyObject* refuse_position(PyObject* self, Py_ssize_t) {
  refuse_mapping(self);
  return nullptr;
}

Py_ssize_t refuse_length(PyObject* self) {
  refuse_mapping(self);
  return -1;
}

int is_true(PyObject*) {
  return 1;
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
  return guarded([&] {
    // Equal clock times in different zones are different times.
    const bool same = same_row(a->columns->table(), a->row, b->columns->table(), b->row) &&
                      equal(a->columns->zone(), b->columns->zone());
    return PyBool_FromLong(same == (operation == Py_EQ));
  });
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
  return guarded([&] {
    return make_record(row_type_given(reinterpret_cast<PyObject*>(type)), keywords).release().ptr();
  });
}

// Libraries that allocate an object of a type and set its attributes would have a row without a
// table; rows are made without this slot.
PyObject* refuse_empty(PyTypeObject* type, Py_ssize_t) {
  PyErr_Format(PyExc_TypeError, "a %s cannot be filled later: pass its fields by keyword",
               type->tp_name);
  return nullptr;
}

// What help() and a notebook's tooltip show; the first line is read as the signature.
std::string doc_of(const Schema& schema, std::string_view text) {
  std::string doc(schema.record);
  doc += "(*";
  for (const Field& field : schema.fields) doc += ", " + std::string(field.name) + "=None";
  doc += ")\n--\n\n";
  return doc += text;
}

std::string text_of_record(const Schema& schema) {
  std::string text =
      "An immutable record of the Trading Data Service, constructed from keywords.\n\nArgs:\n";
  for (const Field& field : schema.fields) {
    text += "    " + std::string(field.name) + ": " + std::string(field.doc) + ".\n";
  }
  return text;
}

std::string doc_of(const Field& field) {
  return std::string(field.doc) + " (" + std::string(name_of(field.kind)) + " | None)";
}

// What all rows inherit, written in Python once for all types. It has no values of its own.
PyObject* base_of_rows = nullptr;

py::object make_base() {
  constexpr unsigned flags =
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  std::array<PyType_Slot, 1> slots{};
  PyType_Spec spec{"tradingdata.Row", sizeof(PyObject), 0, flags, slots.data()};
  py::object made = owned(PyType_FromSpec(&spec));
  base_of_rows = made.inc_ref().ptr();
  return made;
}

// Everything but the fields and the slots is inherited: readers such as orjson take a type that
// owns the names of a protocol for a plain class. `base` has no fields of its own.
void make_type(RowType& made, std::string_view module, std::string_view text, PyObject* base) {
  made.names.fill(*made.schema);
  made.name = std::string(module) + "." + std::string(made.schema->record);
  made.doc = doc_of(*made.schema, text);
  for (const Field& field : made.schema->fields) made.field_docs.push_back(doc_of(field));
  for (int i = 0; i < made.schema->width(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    made.getters.push_back({made.schema->fields[at].name.data(), get_field, nullptr,
                            made.field_docs[at].c_str(),
                            reinterpret_cast<void*>(static_cast<std::intptr_t>(i))});
  }
  made.getters.push_back({nullptr, nullptr, nullptr, nullptr, &made});  // by which a type finds it

  std::array<PyType_Slot, 15> slots{{
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_traverse, reinterpret_cast<void*>(visit_owner)},
      {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
      {Py_tp_setattro, reinterpret_cast<void*>(refuse_change)},
      {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
      {Py_sq_item, reinterpret_cast<void*>(refuse_position)},
      {Py_sq_length, reinterpret_cast<void*>(refuse_length)},
      {Py_nb_bool, reinterpret_cast<void*>(is_true)},
      {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
      {Py_tp_hash, reinterpret_cast<void*>(hash)},
      {Py_tp_new, reinterpret_cast<void*>(create)},
      {Py_tp_alloc, reinterpret_cast<void*>(refuse_empty)},
      {Py_tp_getset, made.getters.data()},
      {Py_tp_doc, made.doc.data()},
      {0, nullptr},
  }};
  PyType_Spec spec{made.name.c_str(), sizeof(RowObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                   slots.data()};
  made.type =
      reinterpret_cast<PyTypeObject*>(owned(PyType_FromSpecWithBases(&spec, base)).release().ptr());
}

// Name, kind, meaning, whether it is personal, whether a response may lack it.
using FieldTuple = std::tuple<std::string, std::string, std::string, bool, bool>;

// A type for the rows of a schema that is made at run time. What it inherits from `base` is a
// declaration in Python.
py::object make_row_type(const std::string& name, const std::vector<FieldTuple>& fields,
                         const py::object& base) {
  std::vector<OwnedSchema::Column> columns;
  std::set<std::string_view> seen;
  for (const auto& [field, kind, doc, personal, optional] : fields) {
    if (field.find('\0') != std::string::npos || field.starts_with("__")) {
      throw py::value_error("a column cannot have the name " + field);
    }
    if (!seen.insert(field).second) throw py::value_error("two columns have the name " + field);
    columns.push_back({field, named<Kind>(kind_names, kind), doc, {personal, optional}});
  }
  auto made = std::make_shared<MadeRowType>(name, std::move(columns));
  RowType& type = *made;
  type.schema = &made->OwnedSchema::schema();
  if (base.is_none()) {
    make_type(type, "tradingdata", "A row of a table.", base_of_rows);
  } else {
    const auto module = attribute(base, "__module__").cast<std::string>();
    const auto text = attribute(base, "__doc__").cast<std::string>();
    make_type(type, module, text, base.ptr());
  }
  auto result = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(type.type));
  // Until the type goes, a weak reference keeps what it points into; tables keep the schema.
  const auto release = [made](py::handle reference) {
    made->names.clear();
    made->type = nullptr;
    reference.dec_ref();
  };
  py::weakref(result, py::cpp_function(release)).release();
  return result;
}

}  // namespace

const RowType& row_type(const Schema& schema) {
  if (schema.owner != nullptr) return static_cast<const MadeRowType&>(*schema.owner);
  return **std::ranges::find(service_types, &schema, &RowType::schema);
}

const RowType& row_type_given(py::handle record) {
  PyObject* const given = record.ptr();
  if (PyUnicode_Check(given) != 0) {
    const auto name = record.cast<std::string>();
    for (const RowType* const type : service_types) {
      if (type->schema->record == name) return *type;
    }
  } else if (PyType_Check(given) != 0 &&
             reinterpret_cast<PyTypeObject*>(given)->tp_getattro == get_attribute) {
    const PyGetSetDef* getter = reinterpret_cast<PyTypeObject*>(given)->tp_getset;
    while (getter->name != nullptr) ++getter;
    return *static_cast<const RowType*>(getter->closure);
  }
  raise(PyExc_ValueError, "there is no record %s: pass its name or its type", shown(given).c_str());
}

const RowType* row_type_of(PyObject* row) {
  return Py_TYPE(row)->tp_getattro == get_attribute ? &as_row(row)->columns->type() : nullptr;
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
  Columns& columns = owner.columns();
  return owned(make_row(columns.type(), slice.ptr(), &columns, owner.start() + row));
}

void bind_records(py::module_& module) {
  import_datetime();
  module.add_object("Row", make_base());
  for (std::size_t i = 0; i < record_schemas.size(); ++i) {
    RowType& made = *(service_types[i] = new RowType);
    made.schema = record_schemas[i];
    make_type(made, "tradingdata", text_of_record(*made.schema), base_of_rows);
    module.add_object(std::string(made.schema->record).c_str(), made.object());
  }
  module.def("row_type", &make_row_type, py::arg("name"), py::arg("fields"),
             py::arg("base") = py::none());
}

}  // namespace tradingdata::python
