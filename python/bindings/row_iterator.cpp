// Iteration over rows: a row costs one small object.
#include "bindings.hpp"
#include "rows.hpp"
#include "slice.hpp"

namespace tradingdata::python {

namespace {

struct RowIterator {
  PyObject_HEAD PyObject* owner;
  Columns* columns;
  const RowType* type;
  std::int64_t next;
  std::int64_t left;
  std::int64_t step;
};

RowIterator* as_iterator(PyObject* self) {
  return reinterpret_cast<RowIterator*>(self);
}

void iterator_dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF(as_iterator(self)->owner);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

int iterator_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_iterator(self)->owner);
  return 0;
}

PyObject* advance(RowIterator* iterator) {
  if (iterator->left == 0) return nullptr;
  PyObject* const row =
      make_row(*iterator->type, iterator->owner, iterator->columns, iterator->next);
  if (row == nullptr) return nullptr;
  --iterator->left;
  iterator->next += iterator->step;
  return row;
}

// One iterator may be shared by threads; without a GIL two could both take the last row.
template <typename Work>
PyObject* alone(PyObject* self, const Work& work) {
  PyObject* result = nullptr;
#ifdef Py_GIL_DISABLED
  Py_BEGIN_CRITICAL_SECTION(self);
  result = work(as_iterator(self));
  Py_END_CRITICAL_SECTION();
#else
  result = work(as_iterator(self));
#endif
  return result;
}

PyObject* next_row(PyObject* self) {
  return alone(self, advance);
}

PyObject* length_hint(PyObject* self, PyObject*) {
  return alone(self, [](RowIterator* iterator) { return PyLong_FromLongLong(iterator->left); });
}

constinit PyMethodDef methods[] = {{"__length_hint__", length_hint, METH_NOARGS, nullptr}, {}};
PyTypeObject* iterator_type = nullptr;

}  // namespace

void make_iterator_type() {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(iterator_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(iterator_traverse)},
      {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
      {Py_tp_iternext, reinterpret_cast<void*>(next_row)},
      {Py_tp_methods, methods},
      {0, nullptr},
  };
  PyType_Spec spec{"tradingdata._core.RowIterator", sizeof(RowIterator), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                   slots};
  iterator_type = reinterpret_cast<PyTypeObject*>(owned(PyType_FromSpec(&spec)).release().ptr());
}

py::object iterate_rows(PyObject* slice, std::int64_t step) {
  const py::handle owner = slice;  // a name: GCC 13 takes what a temporary returns for its part
  const auto& rows = owner.cast<const OwnedSlice&>();
  RowIterator* const made = PyObject_GC_New(RowIterator, iterator_type);
  if (made == nullptr) throw py::error_already_set();
  made->owner = Py_NewRef(slice);
  made->columns = &rows.columns();
  made->type = &rows.columns().type();
  made->next = step > 0 ? rows.start() : rows.stop() - 1;
  made->left = rows.size();
  made->step = step;
  if (made->columns->is_in_cycles()) PyObject_GC_Track(made);
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(made));
}

}  // namespace tradingdata::python
