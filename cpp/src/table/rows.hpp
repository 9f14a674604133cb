// Rows of tables: chosen by conditions, sorted, copied, joined, and compared by their values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "table/table.hpp"

namespace tradingdata {

enum class Relation { equal, not_equal, less, less_equal, greater, greater_equal };

// What of a timestamp is compared: all of it, its day, or its time of day.
enum class TimePart { all, day, clock };

// One condition on one field. A missing value meets none but `equal` and `not_equal`.
struct Condition {
  int field;
  Relation relation = Relation::equal;
  TimePart part = TimePart::all;
  // Any of these for `equal`, none of them for `not_equal`, exactly one for an order. Integers are
  // those of the column: a timestamp's microseconds (also of its time of day), a date's days.
  std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>> wanted{};
  bool null_wanted = false;  // whether a missing value is among the wanted ones
};

// The numbers of a slice's rows in their table, in order; and of those that meet every condition.
std::vector<std::int64_t> rows_of(const Slice& slice);
std::vector<std::int64_t> rows_where(const Slice& slice, std::span<const Condition> conditions);

struct SortKey {
  int field;
  bool descending = false;
};

// The same, sorted by the first key, then by the second, and so on. Rows with equal values keep
// their order; rows without a value are last in either direction. Text is compared by code points.
std::vector<std::int64_t> sorted_rows(const Slice& slice, std::span<const SortKey> keys);

// A new table of the given rows, in the given order, which owns its storage.
TablePtr gather(const Table& table, std::span<const std::int64_t> rows);

// The same in a schema that begins with the table's fields, to be changed before it is built.
TableBuilder copy_of(const Table& table, std::span<const std::int64_t> rows, const Schema& schema);

// Copies the values that a field has in some rows of a slice into the first rows of another table's
// field; the row -1 has none. A date may be copied from a timestamp: its day.
void copy_cells(TableBuilder& into, int field, const Slice& from, int source,
                std::span<const std::int64_t> rows);

// One table of all the slices' rows, in order. They must be of one schema, and there must be one.
TablePtr concat(std::span<const Slice> slices);

// Whether two slices hold the same values in every field of their rows, unknown ones included (as
// sent).
bool same_rows(const Slice& a, const Slice& b);
inline bool same_row(const Table& a, std::int64_t row_a, const Table& b, std::int64_t row_b) {
  return same_rows({&a, row_a, row_a + 1}, {&b, row_b, row_b + 1});
}

// Appends bytes that are equal for equal rows of any two tables of a schema, and for no others.
void append_row(std::string& bytes, const Table& table, std::int64_t row);

}  // namespace tradingdata
