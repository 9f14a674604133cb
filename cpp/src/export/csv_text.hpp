// Text cells of comma-separated values: what needs quotes, and what a spreadsheet would misread.
#pragma once

#include <string>
#include <string_view>

namespace tradingdata::detail {

// Whether a spreadsheet would run the text as a formula, or take it for a value and change it:
// 5/10, 1-2 and MAR1 for dates, TRUE, 1E5, and identifiers with leading zeros or 15 and more
// digits.
bool spreadsheet_changes(std::string_view text);

// The text as one cell; quoted where it is empty, since an empty cell is a missing value.
void put_csv_text(std::string& out, std::string_view text, bool spreadsheet);

}  // namespace tradingdata::detail
