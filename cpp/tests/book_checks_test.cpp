// What only a look at all rows of a book shows.
#include <doctest/doctest.h>

#include "bodies.hpp"
#include "decoding.hpp"

using namespace tradingdata;
using namespace tradingdata::decoding;

TEST_CASE("two clients in one book, and a trade that comes twice, are told") {
  std::vector<bodies::Record> records = bodies::records(trade_schema, 10);
  for (std::size_t i = 0; i < records.size(); ++i) {
    bodies::value(records[i], "client_id") = i < 7 ? "\"CL0001\"" : "\"CL0002, with a long name\"";
    bodies::value(records[i], "trade_no") =
        "\"a number that is long " + std::to_string(i % 8) + "\"";
    bodies::value(records[i], "exchange") = "\"NSE\"";
    bodies::value(records[i], "segment") = i == 9 ? "\"D\"" : "\"E\"";
  }
  Decoded table = book(bodies::book(records), {.strict = true});
  CHECK(table->rows() == 10);
  CHECK(table->issues.size() == 2);
  const auto clients = issue(*table, "client_id", Problem::several_clients);
  CHECK(clients->count == 3);
  CHECK(clients->row == 7);
  CHECK(clients->raw == "\"CL0002, with a long name\"");
  const auto trades = issue(*table, "trade_no", Problem::repeated_trade);  // F98
  CHECK(trades->count == 1);
  CHECK(trades->row == 8);
  for (auto& record : records) bodies::value(record, "client_id") = "null";
  for (auto& record : records) bodies::value(record, "trade_no") = "null";
  CHECK(book(bodies::book(records))->issues.empty());
}
