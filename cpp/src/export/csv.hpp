// Rows as comma-separated values, exact: what is read back is what was written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "table/table.hpp"

namespace tradingdata {

struct CsvOptions {
  std::int64_t start = 0;  // rows [start, start + length)
  std::int64_t length = 0;
  std::vector<int> columns{};  // positions of fields
  // For a program that guesses types and runs formulas: text that it would run as a formula, or
  // would read as a number and change, gets an apostrophe before it; a byte order mark says UTF-8.
  bool spreadsheet = false;
  // It follows each time where it is set.
  ZoneOffset offset{};
};

// A line of names, then a line for each row. An empty cell has no value, "" is empty text (or no
// value where it is the only column); numbers are the shortest that read back the same, times and
// dates as the service writes them.
std::string rows_as_csv(const Table& table, const CsvOptions& options);

}  // namespace tradingdata
