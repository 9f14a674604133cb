// Escapes of every kind, resolved layer by layer.
#include "base/spelling.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tradingdata;

namespace {

std::string resolved(std::string_view text) {
  Spelling spelling(text);
  for (int layers = 0; spelling.resolve(); ++layers) REQUIRE(layers < 100);
  return std::string(spelling.text());
}

}  // namespace

TEST_CASE("F119 the escapes of JSON, URLs, HTML and source code spell the same character") {
  for (const char* plus : {"+", "\\u002B", "\\u002b", "\\u{2b}", "\\u{00002B}", "\\U0000002b",
                           "\\x2B", "\\053", "\\+", "%2B", "%2b", "%u002B", "&#43;", "&#43",
                           "&#0043;", "&#x2B;", "&#x2b", "&#X2b;", "&plus;"}) {
    CAPTURE(plus);
    CHECK(resolved(std::string("a").append(plus).append("z")) == "a+z");
  }
  CHECK(resolved("\\/\\\"\\'") == "/\"'");
  CHECK(resolved("&amp;&lt;&gt;&quot;&apos;&equals;&sol;&lowbar;") == "&<>\"'=/_");
}

TEST_CASE("F119 an escape inside another is resolved, however deep") {
  for (const char* plus : {"\\\\u002B", "%252B", "%25252B", "%5Cu002B", "\\u00252B", "&amp;#43;",
                           "&#38;plus;", "%26%2343%3B", "\\u005Cu002B", "%%32B", "\\\\\\\\u002B"}) {
    CAPTURE(plus);
    CHECK(resolved(std::string("a").append(plus).append("z")) == "a+z");
  }
}

TEST_CASE("what is no escape stays as it is") {
  for (const char* text : {"",
                           "plain",
                           "\\",
                           "a\\",
                           "\\u",
                           "\\u00",
                           "\\u00g0",
                           "\\u{}",
                           "\\u{2b",
                           "\\x2",
                           "\\q",
                           "\\n",
                           "\\05",
                           "%",
                           "%2",
                           "%zz",
                           "100% sure",
                           "&",
                           "&#",
                           "&#;",
                           "&#x;",
                           "&none;",
                           "M&M",
                           "R&D;",
                           "\\u20b9",
                           "%E2%82",
                           "&#8377;",
                           "&#99999999999999999999;",
                           "\xE2\x82\xB9"}) {
    CAPTURE(text);
    CHECK(resolved(text) == text);
  }
}

TEST_CASE("F119 invisible characters do not split a word") {
  using namespace std::string_literals;
  CHECK(resolved("a\0b\0c"s) == "abc");
  CHECK(resolved("a\\u0000b%00c&#0;d") == "abcd");
  CHECK(resolved("a\xC2\xAD"
                 "b\xE2\x80\x8B"
                 "c\\u200Bd&shy;e\xEF\xBB\xBF"
                 "f") == "abcdef");
  CHECK(resolved("a\tb\nc\rd e") == "a\tb\nc\rd e");
}

TEST_CASE("each character knows where it came from, and how deep it was escaped") {
  const std::string text = "a%252Bz";
  Spelling spelling(text);
  CHECK(spelling.origin(7) == 7);
  CHECK(spelling.resolve());
  CHECK(spelling.text() == "a%2Bz");
  CHECK(spelling.resolve());
  CHECK(spelling.text() == "a+z");
  CHECK_FALSE(spelling.resolve());
  CHECK(spelling.origin(0) == 0);
  CHECK(spelling.origin(1) == 1);
  CHECK(spelling.origin(2) == 6);
  CHECK(spelling.origin(3) == 7);
  CHECK(spelling.depth(0) == 0);
  CHECK(spelling.depth(1) == 2);
}
