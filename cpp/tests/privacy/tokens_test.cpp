// Access tokens: which can be sent, that they are never shown, and that they are found as they are
// and behind escapes.
#include "privacy/tokens.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/error.hpp"
#include "support/cases.hpp"
#include "support/tokens.hpp"

using namespace tradingdata;

namespace {

bool finds(const Tokens& tokens, std::string_view token) {
  const std::string text = tokens.search(nullptr)->scrubbed(token);
  return text.starts_with("<token>") && text.find('-') == std::string::npos;
}

}  // namespace

TEST_CASE("the tokens before the current one are searched for too, the last eight of them") {
  Tokens tokens;
  CHECK(tokens.search(nullptr) == nullptr);
  CHECK(tokens.set("0-token-0"));
  CHECK_FALSE(tokens.set("0-token-0"));
  for (int i = 1; i <= 8; ++i) CHECK(tokens.set(std::to_string(i) + "-token-0"));
  CHECK(tokens.current()->reveal() == "8-token-0");
  for (int i = 0; i <= 8; ++i) CHECK(finds(tokens, std::to_string(i) + "-token-0"));
  tokens.clear();
  tokens.clear();
  CHECK(tokens.current() == nullptr);
  CHECK(finds(tokens, "1-token-0"));
  CHECK_FALSE(finds(tokens, "0-token-0"));  // the oldest had to go
}

TEST_CASE("the token that a request was sent with is searched for, however old it is") {
  Tokens tokens;
  tokens.set("sent-with-this");
  const auto sent = tokens.current();
  for (int i = 0; i < 20; ++i) tokens.set(std::to_string(i) + "-token");
  CHECK_FALSE(finds(tokens, "sent-with-this"));
  CHECK(tokens.search(sent)->scrubbed("sent-with-this 19-token-") == "<token>XXXXXXX <token>X-");
}

// Escapes of every kind, resolved layer by layer.

namespace {

std::string resolved(std::string text) {
  for (int layers = 0; resolve_escapes(text); ++layers) REQUIRE(layers < 100);
  return text;
}

}  // namespace

TEST_CASE("the escapes of JSON, URLs and HTML spell the same character, also one inside another") {
  for (const std::string& plus : cases(
           R"(+|\u002B|\u002b|%2B|%2b|&#43;|&#43|&#0043;|&#x2B;|&#x2b|&#X2b;|&plus;|\\u002B|%252B|)"
           R"(%25252B|%5Cu002B|\u00252B|&amp;#43;|&#38;plus;|%26%2343%3B|\u005Cu002B|%%32B|)"
           R"(\\\\u002B)")) {
    CAPTURE(plus);
    CHECK(resolved("a" + plus + "z") == "a+z");
  }
  CHECK(resolved("\\/\\\"\\\\%21%7E") == "/\"\\!~");
  CHECK(resolved("&amp;&lt;&gt;&quot;&apos;&equals;&sol;") == "&<>\"'=/");
}

TEST_CASE("what is no escape stays as it is") {
  for (const std::string& text :
       cases("|plain|\\|a\\|\\u|\\u00|\\u00g0|\\q|\\n|%|%2|%zz|100% "
             "sure|&|&#|&#;|&#x;|&none;|M&M|R&D;|"
             "\\u20b9|%E2%82|&#8377;|&#99999999999999999999;|\\u0000|%20|%7F|₹")) {
    CAPTURE(text);
    CHECK(resolved(text) == text);
  }
}

// Access tokens are found as they are and behind escapes, and other text is not mistaken for one.

using tokens::search_for;

namespace {

using Random = std::mt19937;
using Respell = std::string (*)(char);

std::string random_token(Random& random, std::size_t length) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=";
  std::string token;
  while (token.size() < length) token += letters[random() % letters.size()];
  return token;
}

std::string found(std::vector<std::string_view> tokens, std::string_view text) {
  return search_for(tokens)->scrubbed(text);
}

std::string hidden(std::size_t size) {
  return "<token>" + std::string(size - 7, 'X');
}

std::string hex(char c, int width) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(static_cast<std::size_t>(width), '0');
  text[text.size() - 1] = digits[static_cast<std::size_t>(c) % 16];
  text[text.size() - 2] = digits[static_cast<std::size_t>(c) / 16];
  return text;
}

constexpr Respell respellings[] = {
    [](char c) { return std::string(1, c); },
    [](char c) { return "\\u" + hex(c, 4); },
    [](char c) { return "\\\\u" + hex(c, 4); },
    [](char c) { return "%" + hex(c, 2); },
    [](char c) { return "%25" + hex(c, 2); },
    [](char c) { return "&#" + std::to_string(static_cast<int>(c)) + ";"; },
    [](char c) { return "\\u0026#x" + hex(c, 2) + ";"; },
};

}  // namespace

TEST_CASE("a text loses every run of twelve characters of a token") {
  const std::string_view token = "hY7-kQ2.zR9_aB1+cD4";
  CHECK(found({token}, "got hY7-kQ2.zR9_aB1+cD4!") == "got " + hidden(19) + "!");
  CHECK(found({token}, "hY7-kQ2.zR9_") == hidden(12));
  CHECK(found({token}, "x7-kQ2.zR9_aB1") == "x" + hidden(13));
  CHECK(found({token}, "hY7-kQ2.zR9 zR9_aB1+cD4") == "hY7-kQ2.zR9 zR9_aB1+cD4");
  CHECK(found({token}, "") == "");

  // The run that begins at the second of two equal pieces is the longer one.
  CHECK(found({"aB3dE6gH9jK2mnaB3dE6gH9jK2opqr"}, "aB3dE6gH9jK2opqr") == hidden(16));
}

TEST_CASE("a token of 8 to 11 characters is found as a unit, a shorter one is not") {
  CHECK(found({"test-token"}, "a test-token and a test-toke") ==
        "a " + hidden(10) + " and a test-toke");
  CHECK(found({"eight-88", "seven-7", "eleven-1111"}, "eight-88seven-7eleven-1111") ==
        hidden(8) + "seven-7" + hidden(11));
}

TEST_CASE("a token of which only some characters are escaped is found complete") {
  Random random(8);
  for (int round = 0; round < 300; ++round) {
    const std::string token = random_token(random, 8 + random() % 200);
    std::string spelled;
    for (const char c : token) spelled += respellings[random() % 3 == 0 ? random() % 7 : 0](c);
    CAPTURE(token);
    CAPTURE(spelled);
    CHECK(found({token}, "{" + spelled + "}") == "{" + hidden(token.size()) + "}");
  }
}

TEST_CASE("a token with what would be an escape is found in resolved text too") {
  const std::string_view token = "aB%2F3dE%2F6gH%2F9jK";
  CHECK(found({token}, "got aB%2F3dE%2F6gH%2F9jK") == "got " + hidden(14));
  CHECK(found({token}, "%26 aB/3dE/6gH/9jK") == "%26 " + hidden(14));
}

TEST_CASE("text without a token is left as it is, whatever escapes it has") {
  Random random(9);
  const std::string first = random_token(random, 40);
  const std::string second = random_token(random, 8);
  const std::vector<std::string> pieces = cases(
      "\\u0026|M&M|100%|\\/|%2F|https:\\/\\/a.b\\/c|\\u0939\\u093f| |\",\"|\\\\|&amp;|₹|"
      "abcdefghijklmnopqrstuvwxyz0123456789");
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (std::size_t i = random() % 60; i > 0; --i) text += pieces[random() % pieces.size()];
    CHECK(found({first, second}, text) == text);
  }
}
