// Rows as comma-separated values, exact: what is read back is what was written.
#pragma once

#include <string>

#include "table/table.hpp"

namespace tradingdata {

// A line of names, then a line for each row. An empty cell has no value, "" is empty text (or no
// value where it is the only column); numbers are the shortest that read back the same, times and
// dates as the service writes them. `spreadsheet`: for a program that guesses types and runs
// formulas. Text that it would run as a formula, or would read as a number and change, gets an
// apostrophe before it; a byte order mark says UTF-8.
std::string rows_as_csv(const Rows& rows, bool spreadsheet);

}  // namespace tradingdata
