// The records of a response as text: what an archive stores, and what a row shows that no column
// could hold.
#pragma once

#include <string_view>
#include <vector>

#include "table/table.hpp"

namespace tradingdata {

// The records of a table that holds one complete response, each as it is in the kept body,
// including values that the columns could not hold. The views point into the body, so the table
// must outlive them.
std::vector<std::string_view> sent_records(const Table& table);

}  // namespace tradingdata
