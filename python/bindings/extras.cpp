// Unknown fields stay JSON text until they are read; tradingdata.books.records parses them.
#include "extras.hpp"

#include <string_view>

#include "bindings.hpp"
#include "text_cache.hpp"

namespace tradingdata::python {

namespace {

py::object as_text(std::string_view text) {
  return owned(make_text(text));
}

}  // namespace

py::object extra_value(const Table& table, const Extra& extra) {
  return call_python(handed_over(Function::read_extra), as_text(table.extra_json(extra)));
}

void add_extras(const Table& table, std::int64_t row, py::dict& into) {
  for (const Extra& extra : table.extras_of(row)) {
    into[as_text(table.extra_name(extra))] = extra_value(table, extra);
  }
}

py::object find_extra(const Table& table, std::int64_t row, PyObject* name) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(name, &size);
  if (text == nullptr) {  // half a surrogate pair, which no name has
    PyErr_Clear();
    return {};
  }
  const std::string_view wanted(text, static_cast<std::size_t>(size));
  for (const Extra& extra : table.extras_of(row)) {
    if (table.extra_name(extra) == wanted) return extra_value(table, extra);
  }
  return {};
}

}  // namespace tradingdata::python
