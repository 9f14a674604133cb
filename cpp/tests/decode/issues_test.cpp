// What only a look at all rows of a book shows.
#include <doctest/doctest.h>

#include <set>

#include "support/bodies.hpp"
#include "support/decoding.hpp"

using namespace tradingdata;
using namespace tradingdata::decoding;

TEST_CASE("two clients in one book, and a repeated trade, are issues") {
  std::vector<bodies::Record> records = bodies::records(trade_schema, 10);
  for (std::size_t i = 0; i < records.size(); ++i) {
    bodies::value(records[i], "client_id") = i < 7 ? "\"CL0001\"" : "\"CL0002, with a long name\"";
    bodies::value(records[i], "trade_no") =
        "\"a number that is long " + std::to_string(i % 8) + "\"";
    bodies::value(records[i], "order_no") = "\"1\"";
    bodies::value(records[i], "exchange") = "\"NSE\"";
    bodies::value(records[i], "segment") = i == 9 ? "\"D\"" : "\"E\"";
  }
  Decoded table = book(bodies::book(records), {.strict = true});
  CHECK(table->rows() == 10);
  CHECK(table->issues().size() == 2);
  const auto clients = issue(*table, "client_id", Problem::several_clients);
  CHECK(clients->count == 3);
  CHECK(clients->row == 7);
  CHECK(clients->raw == "\"CL0002, with a long name\"");
  const auto trades = issue(*table, "trade_no", Problem::repeated_trade);  // F98
  CHECK(trades->count == 1);
  CHECK(trades->row == 8);
  for (auto& record : records) bodies::value(record, "client_id") = "null";
  for (auto& record : records) bodies::value(record, "trade_no") = "null";
  CHECK(book(bodies::book(records))->issues().empty());
}

TEST_CASE("the two sides of a trade of an account with itself are no repeat") {
  std::vector<bodies::Record> records = bodies::records(trade_schema, 2);
  records[1] = records[0];
  CHECK(issue(*book(bodies::book(records)), "trade_no", Problem::repeated_trade).has_value());
  bodies::value(records[1], "order_no") = "\"another order\"";
  CHECK_FALSE(issue(*book(bodies::book(records)), "trade_no", Problem::repeated_trade));
}

TEST_CASE("F98: repeated trades are found as a set of keys finds them") {
  bodies::Random random(11);
  for (const std::size_t count : {1u, 2u, 3u, 100u, 3000u}) {
    for (const std::size_t numbers : {count / 2 + 1, count * 50}) {
      std::vector<bodies::Record> records;
      std::set<std::string> keys;
      std::int64_t repeats = 0;
      std::int64_t first = -1;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t number = random() % numbers;
        const std::string long_number(number % 3 * 10, '7');  // inline in the view, and not
        const std::string trade = bodies::in_quotes(long_number + std::to_string(number));
        const std::string exchange = number % 5 == 0 ? "\"BSE\"" : "\"NSE\"";
        records.push_back({{"trade_no", trade}, {"exchange", exchange}, {"segment", "\"E\""}});
        if (keys.insert(trade + exchange).second) continue;
        if (repeats++ == 0) first = static_cast<std::int64_t>(i);
      }
      const Decoded table = book(bodies::book(records));
      const auto found = issue(*table, "trade_no", Problem::repeated_trade);
      CHECK(found.has_value() == (repeats > 0));
      if (!found) continue;
      CHECK(found->count == repeats);
      CHECK(found->row == first);
    }
  }
}
