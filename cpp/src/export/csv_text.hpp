// Text cells of comma-separated values: what needs quotes, and what a spreadsheet would misread.
#pragma once

#include <string>
#include <string_view>

namespace tradingdata::detail {

// Whether a spreadsheet would run the text as a formula, or take it for a number and change it: an
// identifier of 15 and more digits, one with leading zeros, one like 12E45.
bool spreadsheet_changes(std::string_view text);

// The text as one cell; quoted where it is empty, since nothing at all stands for no value.
void put_csv_text(std::string& out, std::string_view text, bool spreadsheet);

}  // namespace tradingdata::detail
