// A table of records in columns: what the decoder fills and every view reads.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/issue.hpp"
#include "base/text.hpp"
#include "table/schema.hpp"

namespace tradingdata {

// Bytes of one value in a column.
constexpr std::int64_t width_of(Kind kind) {
  switch (kind) {
    case Kind::text: return sizeof(TextView);
    case Kind::date: return sizeof(std::int32_t);
    default: return sizeof(std::int64_t);
  }
}

struct Column {
  std::byte* values = nullptr;        // TextView, int64, double, int64 micros or int32 days
  std::uint64_t* validity = nullptr;  // a set bit: there is a value
  std::int64_t nulls = 0;

  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(values);
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(values);
  }
  bool valid(std::int64_t row) const {
    return nulls == 0 || (validity[row / 64] >> (row % 64) & 1) != 0;
  }
};

// A field that the schema does not know: its JSON text, as sent, at a place in a buffer.
struct Extra {
  std::int64_t row;
  std::int32_t name;  // of Table::extra_names
  std::int32_t buffer;
  std::int32_t offset;
  std::int32_t size;
};

class Table {
 public:
  explicit Table(const Schema& schema);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const Schema& schema() const { return *schema_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t capacity() const { return capacity_; }
  const Column& column(int field) const { return columns_[static_cast<std::size_t>(field)]; }

  bool valid(int field, std::int64_t row) const { return column(field).valid(row); }
  std::string_view text(const TextView& view) const;
  std::string_view text(int field, std::int64_t row) const {
    return text(column(field).as<TextView>()[row]);
  }

  // The decoded body is buffer 0 of a table that is one whole answer; text views point into it.
  std::vector<Buffer> buffers;
  bool holds_body = false;
  bool masked = true;  // personal fields are masked, here and in the body

  std::vector<std::string> extra_names;
  std::vector<Extra> extras;  // by row
  std::vector<Issue> issues;  // as the decoder met them
  std::string message;        // the envelope's

  std::string_view extra_json(const Extra& extra) const;
  // The extras of one row, as a range of `extras`.
  std::pair<std::int64_t, std::int64_t> extras_of(std::int64_t row) const;

  // -- for those who fill a table --
  Column& column(int field) { return columns_[static_cast<std::size_t>(field)]; }
  void reserve(std::int64_t rows);
  std::int64_t bytes_for(std::int64_t rows) const;  // of memory, in columns
  void set_rows(std::int64_t rows) { rows_ = rows; }
  void set_null(int field, std::int64_t row);
  // Text that outlives the call: inline, or copied to a buffer of the table's own.
  TextView keep_text(std::string_view text);
  // A place of `size` bytes in a buffer of the table's own: its buffer, and its offset there.
  std::pair<std::int32_t, std::int32_t> keep_bytes(std::string_view bytes);
  std::int32_t extra_name(std::string_view name);  // its position, new where it is

 private:
  struct ByName {
    using is_transparent = void;
    const std::vector<std::string>* names;
    std::string_view name_of(std::int32_t position) const {
      return (*names)[static_cast<std::size_t>(position)];
    }
    bool operator()(std::int32_t a, std::int32_t b) const { return name_of(a) < name_of(b); }
    bool operator()(std::int32_t a, std::string_view b) const { return name_of(a) < b; }
    bool operator()(std::string_view a, std::int32_t b) const { return a < name_of(b); }
  };

  const Schema* schema_;
  std::int64_t rows_ = 0;
  std::int64_t capacity_ = 0;
  std::vector<Column> columns_;
  void* arena_ = nullptr;
  std::set<std::int32_t, ByName> known_extras_;  // positions in extra_names
};

using TablePtr = std::shared_ptr<const Table>;

}  // namespace tradingdata
