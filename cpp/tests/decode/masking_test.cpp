// What is personal is masked while it is decoded, and tokens are removed.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "decode/decode.hpp"
#include "privacy/personal.hpp"
#include "support/bodies.hpp"
#include "support/decoding.hpp"
#include "support/tokens.hpp"
#include "table/records.hpp"

using namespace tradingdata;

TEST_CASE("a personal field is known by its letters, whatever their case and what joins them") {
  for (const char* name : {"pan_no", "PAN_NO", "Pan_No", "panNo", "PanNo", "PAN-NO", "pan.no",
                           "Pan No", "_pan_no", "pan__no", " pan_no "}) {
    CAPTURE(name);
    CHECK(is_personal_name(name));
  }
  for (const char* name : {"", "_", "pan", "no", "pan_n", "pan_nos", "pan_no1", "span_no",
                           "panno x", "pan/no", "p\xC3\xA4n_no", "symbol"}) {
    CAPTURE(name);
    CHECK_FALSE(is_personal_name(name));
  }
  CHECK(personal_name_at("pan_no\": 5") == 6);
  CHECK(personal_name_at("PAN NO=x") == 6);
  CHECK(personal_name_at("pan_note") == 0);
}

// What is personal is masked while it is decoded: in the column, in the kept body, in issues and
// errors, however it is spelled.

using namespace tradingdata::decoding;

TEST_CASE("what is personal is hidden in the value of another field, and nothing beside it") {
  const std::string shown =
      R"("x":"pan_no","y":["pan_no","ABCDE",{"symbol":"ABCDE","n":1234567890}],"panno x":"ABCDE")";
  const auto unknown = [&](const std::string& members) {
    const Decoded table = book(bodies::envelope("[{\"zz\":[{" + members + "," + shown + "}]}]"));
    return std::string(table->extra_json(table->extras()[0]));
  };
  const std::pair<const char*, const char*> members[] = {
      {R"("pan_no":"ABCDE1234F")", R"("pan_no":"ABXXXXXX4F")"},
      {R"("a":{"PAN_NO" : "secret"})", R"("a":{"PAN_NO" : "XXXXXX"})"},
      {R"("p\u0061n_no":"secret","x":"")", R"("p\u0061n_no":"XXXXXX","x":"")"},
      {R"("panNo":[12.5,"ab",{"cd":"e","f":-34}])", R"("panNo":[11.1,"XX",{"XX":"X","X":-11}])"}};
  for (const auto& [sent, kept] : members) {
    CHECK(unknown(sent) == "[{" + std::string(kept) + "," + shown + "}]");
  }
}

// What a book loses where the service repeats a token, and what it keeps.

TEST_CASE("an unknown field that loses a token remains JSON, and is counted") {
  const DecodeOptions options{.tokens = tokens::search_for({"12345678901234"})};
  const TablePtr book = decode_book(
      trade_schema,
      Buffer(R"({"status":"success","data":[{"a":12345678901234,"b":[1,-12345678901234.5]}]})"),
      options);
  CHECK(book->extra_json(book->extras()[0]) == "11111111111111");
  CHECK(book->extra_json(book->extras()[1]) == "[1,-11111111111111.1]");
  REQUIRE(book->issues().back().problem == Problem::token_sent);
  CHECK(book->issues().back().count == 2);
}
