// What a book loses where the service repeats a token, and what it keeps.
#include <doctest/doctest.h>

#include "decode/decode.hpp"
#include "support/tokens.hpp"
#include "table/records.hpp"

using namespace tradingdata;

TEST_CASE("F119 a documented field is the service's data, whatever token it resembles") {
  const DecodeOptions options{.tokens = tokens::search_for({"1100420017", "test-token-of-old"})};
  const std::string body =
      R"({"status":"success","data":[{"client_id":"1100420017","symbol":"test-token-of-old",)"
      R"("order_no":"test-token-of-old","quantity":1100420017}]})";
  const TablePtr book = decode_book(trade_schema, Buffer(body), options);
  CHECK(book->text(trade_schema["client_id"], 0) == "1100420017");
  CHECK(book->text(trade_schema["order_no"], 0) == "test-token-of-old");
  CHECK(book->column(trade_schema["quantity"]).as<std::int64_t>()[0] == 1100420017);
  CHECK(book->buffers().front().view() == body);
  for (const Issue& issue : book->issues()) CHECK(issue.problem != Problem::token_sent);
}

TEST_CASE("F119 an unknown field that loses a token remains JSON, and is counted") {
  const DecodeOptions options{.tokens = tokens::search_for({"12345678901234"})};
  const TablePtr book = decode_book(
      trade_schema,
      Buffer(R"({"status":"success","data":[{"a":12345678901234,"b":[1,-12345678901234.5]}]})"),
      options);
  CHECK(book->extra_json(book->extras()[0]) == R"("XXXXXXXXXXXX")");
  CHECK(book->extra_json(book->extras()[1]) == R"([1,"XXXXXXXXXXXXXXX"])");
  REQUIRE(book->issues().back().problem == Problem::token_sent);
  CHECK(book->issues().back().count == 2);
}
