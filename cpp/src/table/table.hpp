// A table of records in columns. A TableBuilder fills it and is consumed; the table never changes
// afterwards, so any number of threads may read it without a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/issue.hpp"
#include "base/memory/buffer.hpp"
#include "base/text/text.hpp"
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

// The values of one field, in the memory of a table.
struct Column {
  const std::byte* values = nullptr;        // TextView, int64, double, int64 micros or int32 days
  const std::uint64_t* validity = nullptr;  // a set bit: there is a value
  std::int64_t nulls = 0;

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
  explicit Table(const Schema& schema);  // without rows
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

  // The decoded body is buffer 0 of a table that is one complete response; text views point into
  // it.
  const std::vector<Buffer>& buffers() const { return buffers_; }
  bool holds_body() const { return holds_body_; }
  bool masked() const { return masked_; }  // personal fields are masked, here and in the body

  const std::vector<std::string>& extra_names() const { return extra_names_; }
  const std::vector<Issue>& issues() const { return issues_; }  // in the order they were found
  const std::string& message() const { return message_; }       // the envelope's

  // The unknown fields of the rows [start, stop), row by row.
  std::span<const Extra> extras() const { return extras_; }
  std::span<const Extra> extras_of(std::int64_t start, std::int64_t stop) const;
  std::span<const Extra> extras_of(std::int64_t row) const { return extras_of(row, row + 1); }
  std::string_view extra_json(const Extra& extra) const;
  const std::string& extra_name(const Extra& extra) const {
    return extra_names_[static_cast<std::size_t>(extra.name)];
  }

  // The name of a field, or of an unknown field: those are numbered after the schema's.
  std::string_view column_name(int column) const;

 private:
  friend class TableBuilder;

  const Schema* schema_;
  std::int64_t rows_ = 0;
  std::int64_t capacity_ = 0;
  std::vector<Column> columns_;
  void* arena_ = nullptr;  // one block for all columns
  std::vector<Buffer> buffers_;
  bool holds_body_ = false;
  bool masked_ = true;
  std::vector<std::string> extra_names_;
  std::vector<Extra> extras_;
  std::vector<Issue> issues_;
  std::string message_;
};

using TablePtr = std::shared_ptr<const Table>;

}  // namespace tradingdata
