// The unknown fields of each row as one column.
#pragma once

#include "table/row_selection.hpp"

namespace tradingdata {

// A copy of the rows in which one unknown field, `extra`, has the others as a JSON object, their
// values as sent. A row without unknown fields has none. Each export then has the same columns,
// whatever a service adds, and table_from_arrow reads the fields back.
TablePtr with_extra_column(const Slice& rows);

}  // namespace tradingdata
