// Checks that need all rows of a book.
#pragma once

#include <cstdint>
#include <optional>

#include "base/secrets/token_search.hpp"
#include "table/duplicate_rows.hpp"
#include "table/table_builder.hpp"

namespace tradingdata::detail {

// Reports rows of another client than the first, and repeated trades.
class BookChecks {
 public:
  explicit BookChecks(const Schema& schema);

  // May be called while a book arrives, with the number of its complete rows.
  void see(const Table& book, std::int64_t rows);

  // Adds the issues of a complete book. `tokens` are not shown; may be null.
  void finish(TableBuilder& book, TokenSearch* tokens);

 private:
  std::optional<RepeatSearch> trades_;  // of trades alone
};

}  // namespace tradingdata::detail
