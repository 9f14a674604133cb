// Rows back into the service's JSON: what a part of a book is saved and pickled as, and what an
// archive keeps of each record.
#pragma once

#include <cstdint>
#include <string>

#include "table/table.hpp"

namespace tradingdata {

// One record as a JSON object, every field by its wire name, unknown ones behind them as sent.
std::string row_as_json(const Table& table, std::int64_t row);

// A run of rows as a JSON array, which decode_list reads back to equal rows.
std::string rows_as_json(const Table& table, std::int64_t start, std::int64_t stop);

}  // namespace tradingdata
