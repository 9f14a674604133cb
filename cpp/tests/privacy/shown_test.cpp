// Text that is shown: tokens and personal values are hidden before it is cut.
#include "privacy/shown.hpp"

#include <doctest/doctest.h>

#include <string>

#include "privacy/personal.hpp"
#include "support/tokens.hpp"

using namespace tradingdata;

namespace {

std::string shown(std::string_view text, std::int64_t limit) {
  return redacted_head(text, limit, nullptr);
}

}  // namespace

TEST_CASE("text is shown as it is, capped, with an account number masked") {
  CHECK(shown("", 10) == "");
  CHECK(shown("two\nlines", 10) == "two\nlines");
  CHECK(redacted_line("two\nlines\tof\r3", 20, nullptr) == "two lines of 3");
  CHECK(shown("plain {\"a\": [1]}", 100) == "plain {\"a\": [1]}");
  CHECK(shown("0123456789", 10) == "0123456789");
  CHECK(shown("0123456789a", 10) == "0123456789...");
  CHECK(shown("anything", 0) == "...");
  CHECK(shown("anything", -5) == "...");
  CHECK(shown("of ABCDE1234F, zzzzz9999z.", 100) == "of ABXXXXXX4F, zzXXXXXX9z.");
  CHECK(shown("xABCDE1234Fx", 100) == "xABXXXXXX4Fx");
  CHECK(shown("ABCDE1234F", 5) == "ABXXX...");
}

TEST_CASE("an escaped spelling is no disguise") {
  CHECK(shown(R"(\u0041BCD\u00451234F)", 100) == "ABXXXXXX4F");
  CHECK(shown(R"(\\u0041BCDE1234F)", 100) == "ABXXXXXX4F");  // JSON in JSON
  CHECK(shown(R"("\u0070an_no" : "X1 ?y\"z", "b")", 100) == R"("pan_no" : "XX ?X"X", "X")");
  CHECK(shown(R"("pan_no": "SECR\"RET99XYZ")", 100) == R"("pan_no": "XXXX"XXXXXXXX")");
  CHECK(shown("pan_no=SECRET%2699XYZ", 100) == "pan_no=XXXXXX&XXXXX");
  CHECK(shown(R"("pan_no":"a","c":"d\/e")", 100) == R"("pan_no":"X","c":"d\/e")");
  CHECK(shown(R"(sent\nPAN_NO: 7&x=1)", 100) == R"(sent\nPAN_NO: X&x=1)");
  CHECK(shown(R"(\u20b9 \n \" \u0000)", 100) == R"(\u20b9 \n \" \u0000)");
}

TEST_CASE("the value of a personal field is hidden, whatever it is and wherever it ends") {
  CHECK(shown(R"({"pan_no":"a1","b":"c"})", 100) == R"({"pan_no":"XX","b":"c"})");
  CHECK(shown(R"({"pan_no":12.5e3})", 100) == R"({"pan_no":XX.)" + std::string(3, 'X') + "}");
  CHECK(shown(R"({"pan_no":["a,b",{"c":1}],"d":1})", 100) == R"({"pan_no":["X,X",{"X":X}],"d":1})");
  CHECK(shown(R"({"pan_no":"a]},)", 100) == R"({"pan_no":"X]},)");
  CHECK(shown(R"({"pan_no":)", 100) == R"({"pan_no":)");
  CHECK(shown("bad pan_no, pan_no=a1, pan_no", 100) == "bad pan_no, pan_no=XX, pan_no");
  CHECK(shown("{\"pan_no\"\n\t: \"\xE2\x82\xB9\"}", 100) ==
        "{\"pan_no\"\n\t: \"" + std::string(3, 'X') + "\"}");
  CHECK(shown(R"({"pan_no":")" + std::string(9000, 'p'), 50) ==
        R"({"pan_no":")" + std::string(39, 'X') + "...");
}

TEST_CASE("a token or a run of it is shown as <token>, and the rest stays readable") {
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

TEST_CASE("malformed UTF-8 is replaced") {
  CHECK(shown("a\xFF\xC3", 100) == "a\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(shown("\xE0\xA4\x9F\xF0\x9F\x93\x88", 100) == "\xE0\xA4\x9F\xF0\x9F\x93\x88");
}

// Names of personal fields, and how their values are masked.

TEST_CASE("personal text is masked by its shape, and masked text stays unchanged") {
  CHECK(masked("ABCDE1234F") == "ABXXXXXX4F");
  CHECK(masked("ABXXXXXX4F") == "ABXXXXXX4F");
  CHECK(masked("") == "");
  CHECK(masked("ABCDE1234") == "XXXXXXXXX");
  CHECK(masked("ABCDE-1234") == "XXXXXXXXXX");
  CHECK(masked("\xE0\xA4\x9F\xE2\x82\xB9z") == std::string(7, 'X'));
  CHECK(masked(std::string(3, 'X')) == std::string(3, 'X'));
}
