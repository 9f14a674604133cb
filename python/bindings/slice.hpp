// _core.Slice: what a book consists of, and the one form in which rows reach Python.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "columns.hpp"
#include "table/rows.hpp"
#include "table/table.hpp"

namespace tradingdata::python {

// A Slice that keeps its table alive. Rows are counted from its first one.
class OwnedSlice {
 public:
  // All rows of a table, their times in `zone`: a tzinfo or None.
  OwnedSlice(TablePtr table, py::object zone);

  const Table& table() const { return columns_->table(); }
  const TablePtr& shared() const { return columns_->shared(); }
  Columns& columns() const { return *columns_; }
  const py::object& zone() const { return zone_; }
  std::int64_t start() const { return start_; }
  std::int64_t stop() const { return stop_; }
  std::int64_t size() const { return stop_ - start_; }
  Slice view() const { return {&table(), start_, stop_}; }

  // What an export takes; throws KeyError where the record has no such field.
  Rows rows(const std::vector<std::string>& columns) const;

  // Some of these rows, without a copy; 0 <= start <= stop <= size().
  OwnedSlice part(std::int64_t start, std::int64_t stop) const;

 private:
  std::shared_ptr<Columns> columns_;
  py::object zone_;  // referred to by every slice, since the garbage collector counts by object
  std::int64_t start_ = 0;
  std::int64_t stop_;
};

using SliceClass = py::class_<OwnedSlice>;

// For the files that add methods to it.
inline SliceClass slice_class(const py::module_& module) {
  return py::reinterpret_borrow<SliceClass>(module.attr("Slice"));
}

// As a Python object, which the garbage collector visits only if its zone may refer back to it.
py::object as_python(OwnedSlice slice);

// Throws IndexError unless the slice has these rows; -1 is none.
void require_rows(const OwnedSlice& slice, const std::vector<std::int64_t>& rows);

// The cells of some rows, as a list; the row -1 has none.
py::object cells_of(const OwnedSlice& slice, const std::vector<std::int64_t>& rows, int field);

// All rows of a new table.
py::object whole_slice(TablePtr table, const py::object& zone = py::none());

using Names = std::vector<std::string>;

// A field's position; throws KeyError where the record has no such field.
int field_named(const Table& table, const std::string& name);

std::vector<int> columns_named(const Table& table, const Names& names);

}  // namespace tradingdata::python
