// A table as Python sees it: its columns, the zone its times are given, and the text objects that
// its rows share.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tradingdata/table.hpp"
#include "tradingdata/time.hpp"

namespace tradingdata::python {

namespace py = pybind11;

PyObject* make_text(std::string_view text);

// Text that repeats down a column is made into a Python object once.
class TextCache {
 public:
  explicit TextCache(std::int64_t rows);
  ~TextCache();
  TextCache(const TextCache&) = delete;
  TextCache& operator=(const TextCache&) = delete;

  PyObject* get(const Table& table, const TextView& view);

 private:
  struct Entry {
    TextView view;
    PyObject* text = nullptr;
  };

  void give_up();

  std::vector<Entry> entries_;  // a power of two
  std::int64_t hits_ = 0;
  std::int64_t misses_ = 0;
  bool useless_ = false;
};

class Columns {
 public:
  explicit Columns(TablePtr table, py::object zone = py::none());

  const Table& table() const { return *table_; }
  const TablePtr& shared() const { return table_; }
  // A tzinfo, or None while times are naive.
  const py::object& zone() const { return zone_; }

  // A cell as a new reference; nullptr with a Python error set.
  PyObject* cell(int field, std::int64_t row);

 private:
  PyObject* text(int field, std::int64_t row);
  PyObject* timestamp(std::int64_t micros);
  PyObject* date(std::int32_t days);
  Civil civil_of(std::int32_t days);

  TablePtr table_;
  py::object zone_;
  std::vector<std::unique_ptr<TextCache>> caches_;  // by field, made when first read
  std::int32_t last_day_ = 0;
  Civil last_civil_{1970, 1, 1};
};

// Calls the datetime C API's import once; Python's error is thrown.
void import_datetime();

}  // namespace tradingdata::python
