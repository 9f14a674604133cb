// Checks after the walk: whether all rows are of one client, and whether a trade occurs twice.
#include "decode/book_checks.hpp"

#include <array>
#include <cstdint>

#include "decode/issue_log.hpp"
#include "table/records.hpp"

namespace tradingdata::detail {

namespace {

// What identifies a trade: its number is unique on its exchange and segment.
constexpr std::array trade_key{trade_schema["trade_no"], trade_schema["exchange"],
                               trade_schema["segment"]};

void note(TableBuilder& book, const TokenSearch* tokens, int field, Problem problem,
          std::int64_t row, std::int64_t count) {
  const Table& table = book.table();
  const std::string_view name = table.schema().field(field).name;
  std::string raw("\"");
  raw += table.text(field, row);
  raw += '"';
  book.issues().push_back(Issue{std::string(name), problem, count, row, issue_text(raw, tokens)});
}

void check_clients(TableBuilder& book, const TokenSearch* tokens, int field) {
  const Table& table = book.table();
  std::int64_t first = -1;
  std::int64_t other = -1;
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    if (!table.valid(field, row)) continue;
    if (first < 0) first = row;
    if (same_text(table, field, first, row)) continue;
    if (count++ == 0) other = row;
  }
  if (count > 0) note(book, tokens, field, Problem::several_clients, other, count);
}

}  // namespace

BookChecks::BookChecks(const Schema& schema) {
  if (&schema == &trade_schema) trades_.emplace(trade_key);
}

void BookChecks::see(const Table& book, std::int64_t rows) {
  if (trades_) trades_->see(book, rows);
}

void BookChecks::finish(TableBuilder& book, const TokenSearch* tokens) {
  const Table& table = book.table();
  if (table.rows() == 0) return;
  check_clients(book, tokens, table.schema().find("client_id"));
  if (!trades_) return;
  trades_->see(table, table.rows());
  const Repeats repeats = trades_->repeats(table);
  if (repeats.count == 0) return;
  note(book, tokens, trade_key[0], Problem::repeated_trade, repeats.first, repeats.count);
}

}  // namespace tradingdata::detail
