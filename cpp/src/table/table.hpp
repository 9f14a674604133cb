// A table of records in columns. A TableBuilder fills it and is consumed; the table never changes
// afterwards, so any number of threads may read it without a lock.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "table/schema.hpp"

namespace tradingdata {

// Why a value did not fit its column. There is one issue for each field and problem.
enum class Problem : std::uint8_t {
  missing,
  not_text,
  not_number,
  not_integer,
  not_time,
  not_date,
  out_of_range,
  would_round,
  lone_surrogate,
  empty_text,
  number_as_text,
  text_as_number,
  integer_as_fraction,
  time_in_other_form,
  time_cut,
  offset_dropped,
  offset_differs,
  date_with_time,
  repeated_key,
  token_sent,
};

struct ProblemInfo {
  std::string_view text;
  bool lost;  // the value could not be kept
};

// In the order of Problem.
inline constexpr ProblemInfo problems[] = {
    {"missing", true},
    {"not text", true},
    {"not a number", true},
    {"not an integer", true},
    {"not a time", true},
    {"not a date", true},
    {"out of range", true},
    {"an integer beyond 2**53 would round", true},
    {"half a surrogate pair", true},
    {"empty text", false},
    {"number sent as text", false},
    {"text sent as a number", false},
    {"integer written with a fraction", false},
    {"time in another form", false},
    {"time finer than a microsecond, cut", false},
    {"offset from UTC, dropped", false},
    {"another offset from UTC than in the rest, or none", true},
    {"date with midnight behind it", false},
    {"unknown field sent twice, last kept", true},
    {"the access token, now X", true},
};
inline constexpr int problem_count = static_cast<int>(std::size(problems));
static_assert(problem_count == static_cast<int>(Problem::token_sent) + 1);

constexpr const ProblemInfo& describe(Problem problem) {
  return problems[static_cast<std::size_t>(problem)];
}

struct Issue {
  std::string field;  // its wire name; "$" for the complete response
  Problem problem;
  std::int64_t count = 0;
  std::int64_t row = 0;  // the first
  std::string raw;       // the first's JSON text, capped; personal data is not shown
};

// Calls work with a value of the type in which a column of the kind stores its values.
template <typename Work>
constexpr auto with_stored(Kind kind, const Work& work) {
  if (kind == Kind::text) return work(TextView());
  if (kind == Kind::number) return work(double());
  if (kind == Kind::date) return work(std::int32_t());
  return work(std::int64_t());
}

// Bytes of one value in a column.
constexpr std::int64_t width_of(Kind kind) {
  return with_stored(kind, [](auto value) { return static_cast<std::int64_t>(sizeof value); });
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
  std::string_view text(const TextView& view) const {
    const auto size = static_cast<std::size_t>(view.size);
    if (view.is_inline()) return {view.inlined, size};
    return {buffers_[static_cast<std::size_t>(view.place.buffer)].data() + view.place.offset, size};
  }
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

  // The unknown fields of the rows [start, stop), row by row.
  std::span<const Extra> extras() const { return extras_; }
  std::span<const Extra> extras_of(std::int64_t start, std::int64_t stop) const;
  std::span<const Extra> extras_of(std::int64_t row) const { return extras_of(row, row + 1); }
  std::string_view extra_json(const Extra& extra) const;
  const std::string& extra_name(const Extra& extra) const {
    return extra_names_[static_cast<std::size_t>(extra.name)];
  }

 private:
  friend class TableBuilder;

  SchemaPtr schema_;
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
};

using TablePtr = std::shared_ptr<const Table>;

// The words distinguish most texts, and all short ones.
inline bool same_text(const Table& a, const TextView& one, const Table& b, const TextView& other) {
  if (one.first_word() != other.first_word()) return false;
  return one.is_inline() ? one.second_word() == other.second_word() : a.text(one) == b.text(other);
}

// Calls work(read), where read(row) gives a row's value of a field in the type that its kind has.
template <typename Work>
auto with_values(const Table& table, int field, const Work& work) {
  return with_stored(table.schema().field(field).kind, [&]<typename T>(const T&) {
    if constexpr (std::is_same_v<T, TextView>) {
      return work([&](std::int64_t row) { return table.text(field, row); });
    } else {
      const T* const values = table.column(field).as<T>();
      return work([values](std::int64_t row) { return values[row]; });
    }
  });
}

// A time and a day as a cell holds them.
struct Moment {
  std::int64_t micros;
};
struct Day {
  std::int32_t days;
};

// Calls visit with a cell's value, which must exist, in a type that only its kind has.
template <typename Visit>
decltype(auto) visit_cell(const Table& table, int field, std::int64_t row, const Visit& visit) {
  const Column& column = table.column(field);
  switch (table.schema().field(field).kind) {
    case Kind::text: return visit(table.text(field, row));
    case Kind::number: return visit(column.as<double>()[row]);
    case Kind::timestamp: return visit(Moment{column.as<std::int64_t>()[row]});
    case Kind::date: return visit(Day{column.as<std::int32_t>()[row]});
    default: return visit(column.as<std::int64_t>()[row]);
  }
}

// A run of rows of one table.
struct Slice {
  const Table* table;
  std::int64_t start;
  std::int64_t stop;

  std::int64_t size() const { return stop - start; }
};

// What an export takes of a table.
struct Rows {
  TablePtr table;
  std::int64_t start = 0;
  std::int64_t stop = 0;
  std::vector<int> columns{};  // positions of fields, in the order of the export
  ZoneOffset offset{};         // follows each time where it is set

  std::int64_t size() const { return stop - start; }
};

// The only way to write to a table. `build` ends the writing, and so cannot be called on a builder
// that is still in use.
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
  // to null, and is zero then.
  template <typename T>
  T* cells(int field) {
    return reinterpret_cast<T*>(writable(table_->column(field).values));
  }
  void set_null(int field, std::int64_t row);
  void set_nulls(int field, std::int64_t first, std::int64_t count);  // of rows from the first on
  void unset_null(int field, std::int64_t row);
  // Sets a text field of all rows to the same text, or to null if it is empty.
  void set_all(int field, std::string_view text);

  // Text that outlives the call: inline, or copied to a buffer of the table's own.
  TextView keep_text(std::string_view text);
  // A copy of bytes in a buffer of the table's own: the buffer, and the offset there.
  std::pair<std::int32_t, std::int32_t> keep_bytes(std::string_view bytes);

  // Takes the body of a complete response as buffer 0, before any text is kept. It may still be
  // masked in place.
  void hold_body(Buffer body);
  // Exchanges it with another one, which text is then read from.
  void swap_body(Buffer& body) { std::swap(table_->buffers_.front(), body); }

  std::vector<Extra>& extras() { return table_->extras_; }
  std::int32_t extra_name(std::string_view name);  // its position, new where it is
  std::vector<Issue>& issues() { return table_->issues_; }
  void set_masked(bool masked) { table_->masked_ = masked; }

 private:
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
  std::map<std::string, std::int32_t, std::less<>> known_extras_;  // positions in extra_names
};

}  // namespace tradingdata
