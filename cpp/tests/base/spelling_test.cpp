// Escapes of every kind, resolved layer by layer.
#include "base/secrets.hpp"

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

TEST_CASE("F119 the escapes of JSON, URLs and HTML spell the same character") {
  for (const char* plus : {"+", "\\u002B", "\\u002b", "%2B", "%2b", "&#43;", "&#43", "&#0043;",
                           "&#x2B;", "&#x2b", "&#X2b;", "&plus;"}) {
    CAPTURE(plus);
    CHECK(resolved(std::string("a").append(plus).append("z")) == "a+z");
  }
  CHECK(resolved("\\/\\\"\\\\") == "/\"\\");
  CHECK(resolved("&amp;&lt;&gt;&quot;&apos;&equals;&sol;") == "&<>\"'=/");
}

TEST_CASE("F119 an escape inside another is resolved") {
  for (const char* plus : {"\\\\u002B", "%252B", "%25252B", "%5Cu002B", "\\u00252B", "&amp;#43;",
                           "&#38;plus;", "%26%2343%3B", "\\u005Cu002B", "%%32B", "\\\\\\\\u002B"}) {
    CAPTURE(plus);
    CHECK(resolved(std::string("a").append(plus).append("z")) == "a+z");
  }
}

TEST_CASE("what is no escape stays as it is") {
  for (const char* text :
       {"",          "plain",       "\\",      "a\\",    "\\u",     "\\u00",
        "\\u00g0",   "\\q",         "\\n",     "%",      "%2",      "%zz",
        "100% sure", "&",           "&#",      "&#;",    "&#x;",    "&none;",
        "M&M",       "R&D;",        "\\u20b9", "%E2%82", "&#8377;", "&#99999999999999999999;",
        "\\u0000",   "\xE2\x82\xB9"}) {
    CAPTURE(text);
    CHECK(resolved(text) == text);
  }
}

TEST_CASE("each character knows where it came from, and how long its spelling is") {
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
  CHECK(spelling.length_of(0) == 1);
  CHECK(spelling.length_of(1) == 5);
}
