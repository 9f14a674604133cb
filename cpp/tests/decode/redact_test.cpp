// What is personal is masked while it is decoded, and in text that is shown; tokens are removed.
#include "decode/redact.hpp"

#include <doctest/doctest.h>

#include <string>

#include "decode/decode.hpp"
#include "support/bodies.hpp"
#include "support/cases.hpp"
#include "support/decoding.hpp"
#include "support/tokens.hpp"
#include "table/records.hpp"

namespace {

std::string redacted_head(std::string_view text, std::int64_t limit) {
  return tradingdata::redacted_head(text, limit, nullptr);
}

}  // namespace

TEST_CASE("text is shown as it is, capped, with an account number masked") {
  CHECK(redacted_head("", 10) == "");
  CHECK(redacted_head("two\nlines", 10) == "two\nlines");
  CHECK(tradingdata::redacted_line("two\nlines\tof\r3", 20, nullptr) == "two lines of 3");
  CHECK(redacted_head("plain {\"a\": [1]}", 100) == "plain {\"a\": [1]}");
  CHECK(redacted_head("0123456789", 10) == "0123456789");
  CHECK(redacted_head("0123456789a", 10) == "0123456789...");
  CHECK(redacted_head("anything", 0) == "...");
  CHECK(redacted_head("anything", -5) == "...");
  CHECK(redacted_head("of ABCDE1234F, zzzzz9999z.", 100) == "of ABXXXXXX4F, zzXXXXXX9z.");
  CHECK(redacted_head("xABCDE1234Fx", 100) == "xABXXXXXX4Fx");
  CHECK(redacted_head("ABCDE1234F", 5) == "ABXXX...");
}

TEST_CASE("an escaped spelling is no disguise") {
  CHECK(redacted_head(R"(\u0041BCD\u00451234F)", 100) == "ABXXXXXX4F");
  CHECK(redacted_head(R"(\\u0041BCDE1234F)", 100) == "ABXXXXXX4F");  // JSON in JSON
  CHECK(redacted_head(R"("\u0070an_no" : "X1 ?y\"z", "b")", 100) == R"("pan_no" : "XX ?X"X", "X")");
  CHECK(redacted_head(R"("pan_no": "SECR\"RET99XYZ")", 100) == R"("pan_no": "XXXX"XXXXXXXX")");
  CHECK(redacted_head("pan_no=SECRET%2699XYZ", 100) == "pan_no=XXXXXX&XXXXX");
  CHECK(redacted_head(R"("pan_no":"a","c":"d\/e")", 100) == R"("pan_no":"X","c":"d\/e")");
  CHECK(redacted_head(R"(sent\nPAN_NO: 7&x=1)", 100) == R"(sent\nPAN_NO: X&x=1)");
  CHECK(redacted_head(R"(\u20b9 \n \" \u0000)", 100) == R"(\u20b9 \n \" \u0000)");
}

TEST_CASE("the value of a personal field is hidden, whatever it is and wherever it ends") {
  CHECK(redacted_head(R"({"pan_no":"a1","b":"c"})", 100) == R"({"pan_no":"XX","b":"c"})");
  CHECK(redacted_head(R"({"pan_no":12.5e3})", 100) ==
        R"({"pan_no":XX.)" + std::string(3, 'X') + "}");
  CHECK(redacted_head(R"({"pan_no":["a,b",{"c":1}],"d":1})", 100) ==
        R"({"pan_no":["X,X",{"X":X}],"d":1})");
  CHECK(redacted_head(R"({"pan_no":"a]},)", 100) == R"({"pan_no":"X]},)");
  CHECK(redacted_head(R"({"pan_no":)", 100) == R"({"pan_no":)");
  CHECK(redacted_head("bad pan_no, pan_no=a1, pan_no", 100) == "bad pan_no, pan_no=XX, pan_no");
  CHECK(redacted_head("{\"pan_no\"\n\t: \"\xE2\x82\xB9\"}", 100) ==
        "{\"pan_no\"\n\t: \"" + std::string(3, 'X') + "\"}");
  CHECK(redacted_head(R"({"pan_no":")" + std::string(9000, 'p'), 50) ==
        R"({"pan_no":")" + std::string(39, 'X') + "...");
}

TEST_CASE("F119 a token or a run of it is shown as <token>, and the rest stays readable") {
  const auto search = tradingdata::tokens::search_for({"hY7-kQ2.zR9_aB1+cD4"});
  const auto shown = [&](std::string_view text) {
    return tradingdata::redacted_head(text, 100, search.get());
  };
  CHECK(shown("Token hY7-kQ2.zR9_aB1+cD4 expired") == "Token <token> expired");
  CHECK(shown("Token hY7-kQ2.zR9_aB1\\u002BcD4 expired") == "Token <token> expired");
  CHECK(shown("cut kQ2.zR9_aB1+") == "cut <token>");
  CHECK(shown("<token>XXXXXX expired") == "<token> expired");  // overwritten in the body before
  CHECK(tradingdata::redacted_head("12345 hY7-kQ2.zR9_aB1+cD4", 8, search.get()) == "12345 <t...");
}

TEST_CASE("malformed UTF-8 is replaced, and a message is one line") {
  CHECK(tradingdata::redacted_line("line\nfeed\t", 100, nullptr) == "line feed ");
  CHECK(redacted_head("a\xFF\xC3", 100) == "a\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(redacted_head("\xE0\xA4\x9F\xF0\x9F\x93\x88", 100) == "\xE0\xA4\x9F\xF0\x9F\x93\x88");
  CHECK(redacted_head("line\nfeed\t", 100) == "line\nfeed\t");
}

// Names of personal fields, and how their values are masked.

using namespace tradingdata;

TEST_CASE("personal text is masked by its shape, and masked text stays unchanged") {
  CHECK(masked("ABCDE1234F") == "ABXXXXXX4F");
  CHECK(masked("ABXXXXXX4F") == "ABXXXXXX4F");
  CHECK(masked("") == "");
  CHECK(masked("ABCDE1234") == "XXXXXXXXX");
  CHECK(masked("ABCDE-1234") == "XXXXXXXXXX");
  CHECK(masked("\xE0\xA4\x9F\xE2\x82\xB9z") == std::string(7, 'X'));
  CHECK(masked(std::string(3, 'X')) == std::string(3, 'X'));
}

TEST_CASE(
    "F120 a personal field is known by its letters, whatever their case and what joins them") {
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

constexpr std::string_view secret = "ABCDE1234F";

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

bool anywhere(const Table& table, std::string_view hidden) {
  bool found = false;
  for (const Buffer& buffer : table.buffers()) found = found || shows(buffer.view(), hidden);
  for (const Issue& issue : table.issues())
    found = found || shows(issue.raw, hidden) || shows(issue.field, hidden);
  return found || shows(contents(table), hidden);
}

}  // namespace

TEST_CASE("the kept body decodes to the same table, whatever it contained") {
  for (const std::string& value :
       cases("\"ABCDE1234F\"|\"\\u0041BCDE1234F\"|\"ABCDE\\u0031234F\"|\"\"|\"ABCDE1234\"|"
             "\"ABCDE 1234F\"|\"abcde1234f\"|\"a\\\"b\"|\"\\\\\"|\"\\ud800secret\"|"
             "\"\xE0\xA4\x9F\xE0\xA4\xBE\"|\"a text of more than twelve bytes\"|1234567890|"
             "-12345.678e9|7|-5|77|777|null|true|false|[]|{}|[7]|[\"ABCDE1234F\"]|"
             "{\"pan\":\"ABCDE1234F\"}|{\"a\":[1,2,{\"b\":\"ABCDE1234F\"}]}")) {
    for (std::string_view key : {"pan_no", "p\\u0061n_no", "\\u0070\\u0061\\u006e_no"}) {
      CAPTURE(value);
      const std::string body = with_pan(value, key);
      const Decoded table = book(body);
      CHECK(table->buffers()[0].size() == static_cast<std::int64_t>(body.size()));
      const Decoded again = book(table->buffers()[0].view());
      CHECK(contents(*again) == contents(*table));
      CHECK(again->buffers()[0].view() == table->buffers()[0].view());
      for (std::string_view part : {"CDE123", "CDE1", "cde1", "E1234", "E 1234F", "secret",
                                    "1234567890", "12345.", "777", "pan\"", "a text"}) {
        CHECK_FALSE(anywhere(*table, part));
      }
    }
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

TEST_CASE("personal data is kept only when asked for, and issues do not show it even then") {
  const Decoded table = book(with_pan(R"("ABCDE1234F")"), {.keep_personal_data = true});
  CHECK_FALSE(table->masked());
  CHECK(cell(*table, "pan_no") == secret);
  CHECK(shows(table->buffers()[0].view(), secret));
  const Decoded odd = book(with_pan("1234567890"), {.keep_personal_data = true});
  CHECK(cell(*odd, "pan_no") == "1234567890");
  CHECK(issue(*odd, "pan_no", Problem::text_as_number)->raw == "");
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
  CHECK(book->extra_json(book->extras()[0]) == "11111111111111");
  CHECK(book->extra_json(book->extras()[1]) == "[1,-11111111111111.1]");
  REQUIRE(book->issues().back().problem == Problem::token_sent);
  CHECK(book->issues().back().count == 2);
}

TEST_CASE("F119 text with escapes loses all of itself with a token, and remains JSON") {
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
