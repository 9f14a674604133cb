// Checks after the walk: whether all rows are of one client, and whether a trade occurs twice.
#include "decode/book_checks.hpp"

#include <cstdint>

#include "decode/issue_log.hpp"
#include "table/records.hpp"

namespace tradingdata::detail {

namespace {

void note(TableBuilder& book, TokenSearch* tokens, int field, Problem problem, std::int64_t row,
          std::int64_t count) {
  const Table& table = book.table();
  const std::string_view name = table.schema().field(field).name;
  std::string raw("\"");
  raw += table.text(field, row);
  raw += '"';
  book.issues().push_back(Issue{std::string(name), problem, count, row, issue_text(raw, tokens)});
}

void check_clients(TableBuilder& book, TokenSearch* tokens, int field) {
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
  if (&schema == &trade_schema) trades_.emplace(trade_schema.identity);
}

void BookChecks::see(const Table& book, std::int64_t rows) {
  if (trades_) trades_->see(book, rows);
}

void BookChecks::finish(TableBuilder& book, TokenSearch* tokens) {
  const Table& table = book.table();
  if (table.rows() == 0) return;
  const int client = table.schema().find("client_id");
  if (client >= 0 && table.schema().field(client).kind == Kind::text)
    check_clients(book, tokens, client);
  if (!trades_) return;
  trades_->see(table, table.rows());
  const Repeats repeats = trades_->repeats(table);
  if (repeats.count == 0) return;
  note(book, tokens, trade_schema.identity[0], Problem::repeated_trade, repeats.first,
       repeats.count);
}

}  // namespace tradingdata::detail
