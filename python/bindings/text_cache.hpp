// Text of a column as Python objects: repeated text is converted once.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "table/table.hpp"

namespace tradingdata::python {

// A new str; nullptr with a Python error set.
PyObject* make_text(std::string_view text);

// The texts of a column that were read last, found by their views. Gives up on a column whose text
// hardly repeats, which then costs nothing.
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

}  // namespace tradingdata::python
