// Checks that need all rows of a book.
#pragma once

#include "base/token_search.hpp"
#include "table/table_builder.hpp"

namespace tradingdata::detail {

// Adds issues for rows of another client than the first, and for repeated trades. `tokens` are not
// shown; may be null.
void check_book(TableBuilder& book, const TokenSearch* tokens);

}  // namespace tradingdata::detail
