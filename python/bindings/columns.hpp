// The cells of a table as Python objects, with what its rows share: the names of fields, a cache of
// texts, and the zone of their times.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "table/schema.hpp"
#include "table/table.hpp"
#include "values.hpp"

namespace tradingdata::python {

// Finds a field by its interned name: one look at an address and, nearly always, one comparison.
class FieldNames {
 public:
  void fill(const Schema& schema);
  void clear();  // before the end of the type that has the names, since it needs the GIL

  // The field, or -1 where no field has this very object for a name.
  int find(PyObject* name) const {
    std::size_t slot = slot_of(name);
    while (slots_[slot].name != nullptr) {
      if (slots_[slot].name == name) return slots_[slot].field;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return -1;
  }

  // Also finds a name that is equal, but another object. `name` is a str.
  int find_equal(PyObject* name) const;
  PyObject* name(int field) const { return names_[static_cast<std::size_t>(field)]; }

 private:
  struct Slot {
    PyObject* name = nullptr;
    int field = -1;
  };

  std::size_t slot_of(PyObject* name) const {
    const auto address = reinterpret_cast<std::uintptr_t>(name) >> 4;
    return (address ^ address >> 9) & (slots_.size() - 1);
  }

  std::vector<Slot> slots_;  // a power of two
  std::vector<PyObject*> names_;
  PyObject* by_text_ = nullptr;  // a dict, from name to field
};

// The message for a name that is not a field, with the closest one that is.
py::object no_field(const Schema& schema, py::handle name);

// A new str; nullptr with a Python error set.
PyObject* make_text(std::string_view text);

// The texts of a column that were read last, found by their views. Gives up on a column whose text
// hardly repeats, which then costs nothing. Without it, decoding 10,000 trades and reading five
// fields of each takes 5 % more CPU, and `to_dicts()` 19 %, with a copy of each text in each row.
class TextCache {
 public:
  TextCache() = default;
  TextCache(TextCache&& other) noexcept = default;
  TextCache& operator=(TextCache&&) = delete;
  ~TextCache() { give_up(); }

  // The text of a view of the table, as a new reference; nullptr with a Python error set.
  PyObject* get(const Table& table, const TextView& view);

 private:
  struct alignas(32) Entry {
    TextView view;
    PyObject* text = nullptr;
  };

  bool begin(std::int64_t rows);
  void give_up();
  PyObject* missed(const Table& table, const TextView& view, Entry& entry);

  std::unique_ptr<Entry[]> entries_;
  int shift_ = 0;  // of a hash, to its place
  std::int64_t hits_ = 0;
  std::int64_t misses_ = 0;
  bool useless_ = false;
};

// The value as Python's json reads it.
py::object extra_value(const Table& table, const Extra& extra);

// Adds a row's unknown fields to a dict, by name.
void add_extras(const Table& table, std::int64_t row, py::dict& into);

// The value of one of a row's unknown fields; a null object where it has no such field.
py::object find_extra(const Table& table, std::int64_t row, PyObject* name);

struct RowType;

class Columns {
 public:
  // `zone` is a tzinfo, or None while times are naive. It is borrowed: each slice has a reference
  // of its own, which is what the garbage collector needs to count.
  Columns(TablePtr table, py::handle zone);

  const Table& table() const { return *table_; }
  const TablePtr& shared() const { return table_; }
  const RowType& type() const { return *type_; }
  // The field that has this very object for a name, or -1.
  int find(PyObject* name) const { return names_->find(name); }
  py::handle zone() const { return zone_; }
  // Whether the zone may refer back to this: only then do rows cost the garbage collector anything.
  bool is_in_cycles() const { return PyObject_IS_GC(zone_.ptr()) != 0; }

  // A cell as a new reference; nullptr with a Python error set. What it needs of a column is stored
  // together: reading the 40 fields of 10,000 rows walks 40 columns at once, and waits for memory.
  PyObject* cell(int field, std::int64_t row) {
    Reader& reader = readers_[static_cast<std::size_t>(field)];
    if (!reader.valid(row)) return Py_NewRef(Py_None);
    switch (reader.kind) {
      case Kind::text: return text(reader, row);
      case Kind::integer: return PyLong_FromLongLong(at<std::int64_t>(reader, row));
      case Kind::number: return PyFloat_FromDouble(at<double>(reader, row));
      case Kind::timestamp: return timestamp(at<std::int64_t>(reader, row));
      case Kind::date: return make_date(calendar_date(at<std::int32_t>(reader, row)));
    }
    Py_UNREACHABLE();
  }

  // Whether the cell is known to equal that of the previous row; long text is not compared.
  bool repeats(int field, std::int64_t row) const {
    const Reader& reader = readers_[static_cast<std::size_t>(field)];
    if (row == 0 || reader.valid(row) != reader.valid(row - 1)) return false;
    switch (reader.kind) {
      case Kind::text: {
        const TextView* const view = &at<TextView>(reader, row);
        return view->is_inline() && std::memcmp(view, view - 1, sizeof *view) == 0;
      }
      case Kind::date: return same_bits<std::int32_t>(reader, row);
      default: return same_bits<std::int64_t>(reader, row);
    }
  }

 private:
  struct alignas(64) Reader {
    const std::byte* values = nullptr;
    const std::uint64_t* validity = nullptr;  // nullptr: every row has a value
    Kind kind{};
    TextCache texts;

    bool valid(std::int64_t row) const {
      return validity == nullptr || (validity[row >> 6] >> (row & 63) & 1) != 0;
    }
  };

  template <typename T>
  static bool same_bits(const Reader& reader, std::int64_t row) {
    const T* const value = &at<T>(reader, row);
    return value[0] == value[-1];
  }

  // Rows are mostly read in order: the line that the rows to come lie on is asked for early.
  // Without it and the look ahead in `text`, reading all fields of 10,000 trades takes 15 % more
  // CPU.
  template <typename T>
  static const T& at(const Reader& reader, std::int64_t row) {
    const T* const value = reinterpret_cast<const T*>(reader.values) + row;
    prefetch(value + lookahead_bytes / sizeof(T));
    return *value;
  }

  static void prefetch([[maybe_unused]] const void* place) {
#if defined(__GNUC__)
    __builtin_prefetch(place);
#endif
  }

  PyObject* text(Reader& reader, std::int64_t row);
  PyObject* timestamp(std::int64_t micros);

  static constexpr std::size_t lookahead_bytes = 128;

  TablePtr table_;
  const RowType* type_;
  py::object keeps_type_;    // without a row, nothing else may
  const FieldNames* names_;  // of the type
  py::handle zone_;
  std::vector<Reader> readers_;
};

}  // namespace tradingdata::python
