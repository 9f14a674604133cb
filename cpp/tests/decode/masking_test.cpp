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

namespace {

std::string with_pan(std::string_view value, std::string_view key = "pan_no") {
  auto records = bodies::records(trade_schema, 3);
  for (auto& record : records) {
    for (auto& pair : record) {
      if (pair.first == "pan_no") pair = {std::string(key), std::string(value)};
    }
  }
  return bodies::book(records);
}

// Nothing of it may be left: not as sent, not with its escapes resolved.
bool shows(std::string_view text, std::string_view hidden) {
  return text.find(hidden) != text.npos;
}

}  // namespace

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

TEST_CASE("values of other shapes are hidden completely") {
  CHECK(cell(*book(with_pan(R"("ABCDE1234")")), "pan_no") == "XXXXXXXXX");
  CHECK(cell(*book(with_pan(R"("\u0041BCDE1234F")")), "pan_no") == std::string(15, 'X'));
  CHECK(cell(*book(with_pan(R"("")")), "pan_no") == "");
  CHECK(cell(*book(with_pan("null")), "pan_no") == "null");
  const Decoded number = book(with_pan("1234567890"));
  CHECK(cell(*number, "pan_no") == "11XXXXXX11");
  CHECK(issue(*number, "pan_no", Problem::text_as_number)->raw == "");
  const Decoded object = book(with_pan(R"({"pan":"ABCDE1234F"})"));
  CHECK(cell(*object, "pan_no") == "null");
  CHECK(issue(*object, "pan_no", Problem::not_text)->count == 3);
}

TEST_CASE("no error shows an account number") {
  const auto check = [](const std::string& body, const DecodeOptions& options = {}) {
    const Error error = book_failure(body, options);
    for (std::string_view part : {"CDE123", "cde123", "98765", "hidden"}) {
      CHECK_FALSE(shows(error.what(), part));
      CHECK_FALSE(shows(error.path, part));
      CHECK_FALSE(shows(error.body, part));
      CHECK_FALSE(shows(error.service_message, part));
    }
  };
  for (std::string_view key : {"pan_no", "p\\u0061n_no"}) {
    for (std::string_view value :
         {R"("ABCDE1234F")", R"("\u0041BC\u0044E1234F")", "9876543210", R"("hidden text")",
          R"(["hidden","9876543210"])", R"({"a":"hidden}"})"}) {
      const std::string pair = std::string("\"").append(key).append("\":").append(value);
      check("{\"data\":[{" + pair + ",\"symbol\":tru}]}");
      check("{\"data\":[{" + pair + "}]");
      check("{\"data\":[{" + pair.substr(0, pair.size() - 1));
      check("{\"data\":[{\"symbol\":01," + pair + "}]}");
      check("{\"data\":[{" + pair + "," + pair + "}],\"status\":\"success\"}");
      check("{\"data\":[{" + pair + "}],\"status\":\"success\"}",
            {.strict = true, .keep_personal_data = true});
      check("{" + pair + "}");
      check("[" + pair + "]");
    }
  }
  check(R"({"status":"error","message":"PAN ABCDE1234F or \u0041BCDE1234F"})");
  check(R"({"data":[{"ABCDE1234F":tru}]})");
  check("pan is ABCDE1234F");
}

// What a book loses where the service repeats a token, and what it keeps.

TEST_CASE("a documented field is the service's data, whatever token it resembles") {
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

TEST_CASE("an unknown field without a token is kept as it was sent, and one of eight is found") {
  const DecodeOptions options{.tokens = tokens::search_for({"qT-9.x_Z"})};
  const std::string body = R"({"status":"success","data":[{"a":"a\n\"text\"","no\u0074es":[12]}]})";
  const TablePtr kept = decode_book(trade_schema, Buffer(body), options);
  CHECK(kept->buffers().front().view() == body);
  CHECK(kept->extra_names() == std::vector<std::string>{"a", "notes"});
  for (const Issue& issue : kept->issues()) CHECK(issue.problem != Problem::token_sent);
  const TablePtr found = decode_book(
      trade_schema, Buffer(R"({"status":"success","data":[{"a":"qT-9.x_Z"}]})"), options);
  CHECK(found->extra_json(found->extras()[0]) == R"("<token>X")");
}

TEST_CASE("text with escapes loses all of itself with a token, and remains JSON") {
  const DecodeOptions options{.tokens = tokens::search_for({"nhY7-kQ2.zR9_aB1+cD4"})};
  const auto unknown = [&](const std::string& text) {
    const TablePtr book = decode_book(
        trade_schema,
        Buffer(R"({"status":"success","data":[{"a":")" + text + R"("}],"message":""})"), options);
    return std::string(book->extra_json(book->extras()[0]));
  };
  CHECK(unknown("of hY7-kQ2.zR9_aB1") == R"("of <token>XXXXXXXX")");
  CHECK(unknown("of hY7-kQ2.zR9_aB1%2BcD4") == R"("<token>XXXXXXXXXXXXXXXXX")");
  CHECK(unknown(R"(of hY7-kQ2.zR9\u005faB1)") == R"("<token>XXXXXXXXXXXXXXXX")");
  CHECK(unknown(R"(of\nhY7-kQ2.zR9_aB1)") == R"("<token>XXXXXXXXXXXX")");
}
