// Rows that repeat an earlier row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "table/table.hpp"

namespace tradingdata::detail {

// Whether two rows have the same text in a field.
bool same_text(const Table& table, int field, std::int64_t a, std::int64_t b);

struct Repeats {
  std::int64_t count = 0;
  std::int64_t first = -1;  // the first row that is one
};

// Finds the rows whose key of text fields an earlier row has too. Rows without a value in
// the key's first field are left out.
class RepeatSearch {
 public:
  explicit RepeatSearch(std::span<const int> key) : key_(key) {}

  // Looks at the rows up to `rows` that were not looked at before: best while they are in the
  // processor's cache.
  void see(const Table& table, std::int64_t rows);

  // The result, once all rows of the table were seen.
  Repeats repeats(const Table& table) const;

 private:
  std::span<const int> key_;
  std::vector<std::size_t> hashes_;  // of the key's first field, by row
};

}  // namespace tradingdata::detail
