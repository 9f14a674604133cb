// What can be said of a book only when all of its rows are there.
#pragma once

#include "table/table.hpp"

namespace tradingdata::detail {

// Notes rows of another client than the first, and trades that came before.
void check_book(Table& table);

}  // namespace tradingdata::detail
