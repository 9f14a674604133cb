// Creates date, time and text objects through the C API, because this code runs for every cell.
#include "columns.hpp"

#include <bit>
#include <new>

#include "bindings.hpp"
#include "rows.hpp"

namespace tradingdata::python {

Columns::Columns(TablePtr table, py::handle zone)
    : table_(std::move(table)),
      type_(&row_type(table_->schema())),
      keeps_type_(type_->object()),
      names_(&type_->names),
      zone_(zone),
      readers_(static_cast<std::size_t>(table_->schema().width())) {
  int field = 0;
  for (Reader& reader : readers_) {  // in place: this runs for each response, however small
    const Column& column = table_->column(field);
    reader.values = column.values;
    reader.validity = column.nulls == 0 ? nullptr : column.validity;
    reader.kind = table_->schema().field(field).kind;
    ++field;
  }
}

PyObject* Columns::text(Reader& reader, std::int64_t row) {
  const TextView& view = at<TextView>(reader, row);
  // Long text lies in the body, a record's length away from the next row's.
  constexpr std::int64_t rows_ahead = 2;
  if (row + rows_ahead < table_->rows()) {
    const TextView& later = (&view)[rows_ahead];
    if (!later.is_inline()) prefetch(table_->text(later).data());
  }
#ifdef Py_GIL_DISABLED
  return make_text(table_->text(view));
#else
  return reader.texts.get(*table_, view);
#endif
}

PyObject* Columns::timestamp(std::int64_t micros) {
  const std::int32_t day = day_of(micros);
  return make_datetime(calendar_date(day), micros - day * micros_per_day, zone_);
}

// Interned names let attribute access compare pointers instead of text.

void FieldNames::fill(const Schema& schema) {
  constexpr std::size_t slots_a_name = 16;  // few are taken, so that probes end at once
  slots_.resize(std::bit_ceil(slots_a_name * (schema.fields.size() + 1)));
  py::dict by_text;
  for (int field = 0; field < schema.width(); ++field) {
    PyObject* const name = PyUnicode_InternFromString(schema.field(field).name.data());
    if (name == nullptr) throw py::error_already_set();
    names_.push_back(name);
    by_text[py::handle(name)] = field;
    std::size_t slot = slot_of(name);
    while (slots_[slot].name != nullptr) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = {name, field};
  }
  by_text_ = by_text.release().ptr();
}

void FieldNames::clear() {
  for (PyObject* const name : names_) Py_DECREF(name);
  names_.clear();
  Py_CLEAR(by_text_);
}

int FieldNames::find_equal(PyObject* name) const {
  const int found = find(name);
  if (found >= 0) return found;
  // Equality of a subclass of str may be Python code.
  PyObject* const field = or_park([&] { return PyDict_GetItemWithError(by_text_, name); });
  if (field != nullptr) return static_cast<int>(PyLong_AsLong(field));
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return -1;
}

py::object no_field(const Schema& schema, py::handle name) {
  py::list known;
  for (const Field& field : schema.fields) known.append(field.name);
  return call_python(handed_over(Function::no_field), schema.record, name, py::tuple(known));
}

// A small hash table from text views to Python strings. Columns such as the exchange repeat a few
// texts, so most cells reuse an object; a column of distinct texts gives up the cache.

namespace {

constexpr int most_bits = 9;  // 512 entries, 16 kB a column

// A view contains short text completely. Of long text it has size and head; the tail is looked up.
std::uint64_t hash_of(const Table& table, const TextView& view) {
  std::uint64_t second = view.second_word();
  if (!view.is_inline()) {
    const std::string_view text = table.text(view);
    second = load_word(text.data() + text.size() - sizeof second);
  }
  return (view.first_word() ^ std::rotl(second, 29)) * 0x9E3779B97F4A7C15;
}

}  // namespace

PyObject* make_text(std::string_view text) {
  const auto size = static_cast<Py_ssize_t>(text.size());
  if (size > 1 && is_ascii(text)) {
    PyObject* const made = PyUnicode_New(size, 127);
    if (made != nullptr) std::memcpy(PyUnicode_DATA(made), text.data(), text.size());
    return made;
  }
  return PyUnicode_DecodeUTF8(text.data(), size, "strict");
}

bool TextCache::begin(std::int64_t rows) {
  int bits = 1;
  while (bits < most_bits && std::int64_t{1} << bits < 2 * rows) ++bits;
  entries_.reset(new (std::nothrow) Entry[std::size_t{1} << bits]);
  shift_ = 64 - bits;
  return entries_ != nullptr;
}

void TextCache::give_up() {
  if (entries_ == nullptr) return;
  for (std::size_t i = 0; i < std::size_t{1} << (64 - shift_); ++i) Py_XDECREF(entries_[i].text);
  entries_.reset();
  useless_ = true;
}

PyObject* TextCache::get(const Table& table, const TextView& view) {
  if (useless_) return make_text(table.text(view));
  if (entries_ == nullptr && !begin(table.rows())) return PyErr_NoMemory();
  Entry& entry = entries_[hash_of(table, view) >> shift_];
  if (entry.text == nullptr || !same_text(table, entry.view, table, view)) [[unlikely]] {
    return missed(table, view, entry);
  }
  ++hits_;
  return Py_NewRef(entry.text);
}

PyObject* TextCache::missed(const Table& table, const TextView& view, Entry& entry) {
  constexpr std::int64_t fair_trial = 512;
  PyObject* const made = make_text(table.text(view));
  if (made == nullptr) return nullptr;
  ++misses_;
  if (misses_ > fair_trial && hits_ < misses_) {
    give_up();
  } else {
    entry.view = view;
    Py_XSETREF(entry.text, Py_NewRef(made));
  }
  return made;
}

// Unknown fields stay JSON text until they are read; tradingdata.table.rows parses them.

py::object extra_value(const Table& table, const Extra& extra) {
  return call_python(handed_over(Function::read_extra), owned(make_text(table.extra_json(extra))));
}

void add_extras(const Table& table, std::int64_t row, py::dict& into) {
  for (const Extra& extra : table.extras_of(row)) {
    const py::object name = owned(make_text(table.extra_name(extra)));
    if (!into.contains(name))
      into[name] = extra_value(table, extra);  // a local field's comes first
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
