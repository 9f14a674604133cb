// Fills a table: the only way to write to one. `build` ends the writing, and so cannot be called on
// a builder that is still in use.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table/table.hpp"

namespace tradingdata {

class TableBuilder {
 public:
  explicit TableBuilder(const Schema& schema);
  TableBuilder(TableBuilder&&) noexcept = default;
  TableBuilder& operator=(TableBuilder&&) noexcept = default;
  TableBuilder(const TableBuilder&) = delete;
  TableBuilder& operator=(const TableBuilder&) = delete;
  ~TableBuilder() = default;

  TablePtr build() && { return std::move(table_); }

  // The table as far as it is filled. The reference is valid until `build`.
  const Table& table() const { return *table_; }

  // Makes room for rows; pointers into columns become invalid. Never shrinks.
  void reserve(std::int64_t rows);
  std::int64_t bytes_for(std::int64_t rows) const;  // of memory, in columns
  void set_rows(std::int64_t rows) { table_->rows_ = rows; }

  // The cells of a field, for as many rows as were reserved. A cell has a value unless it was set
  // to null.
  template <typename T>
  T* cells(int field) {
    return reinterpret_cast<T*>(writable(table_->column(field).values));
  }
  void set_null(int field, std::int64_t row);
  void unset_null(int field, std::int64_t row);

  // Text that outlives the call: inline, or copied to a buffer of the table's own.
  TextView keep_text(std::string_view text);
  // A copy of bytes in a buffer of the table's own: the buffer, and the offset there.
  std::pair<std::int32_t, std::int32_t> keep_bytes(std::string_view bytes);

  // Takes the body of a complete response as buffer 0, before any text is kept. It may still be
  // masked in place.
  void hold_body(Buffer body);
  // Exchanges it with another one, which text is then read from.
  void swap_body(Buffer& body) { std::swap(table_->buffers_.front(), body); }
  char* body() { return table_->buffers_.front().data(); }

  std::vector<Extra>& extras() { return table_->extras_; }
  std::int32_t extra_name(std::string_view name);  // its position, new where it is
  std::vector<Issue>& issues() { return table_->issues_; }
  void set_message(std::string message) { table_->message_ = std::move(message); }
  void set_masked(bool masked) { table_->masked_ = masked; }

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

  Column& column(int field) { return table_->columns_[static_cast<std::size_t>(field)]; }
  // A place of a column as this builder may write to it: all columns lie in the arena.
  std::byte* writable(const void* place) {
    auto* const arena = static_cast<std::byte*>(table_->arena_);
    return arena + (static_cast<const std::byte*>(place) - arena);
  }
  std::uint64_t& validity_word(int field, std::int64_t row) {
    return *reinterpret_cast<std::uint64_t*>(writable(column(field).validity + row / 64));
  }

  std::shared_ptr<Table> table_;
  std::set<std::int32_t, ByName> known_extras_;  // positions in extra_names
};

}  // namespace tradingdata
