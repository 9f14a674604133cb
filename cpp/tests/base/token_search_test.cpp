// Access tokens are found in every spelling, and data is not mistaken for one.
#include "base/token_search.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace tradingdata;

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

std::string found(const TokenSearch& search, std::string_view text) {
  std::string shown(text);
  search.find(text, [&](std::size_t from, std::size_t to) {
    shown.replace(from, to - from, to - from, '*');
  });
  return shown;
}

std::string overwritten(const TokenSearch& search, std::string_view text) {
  Buffer body(text);
  search.overwrite(body);
  return std::string(body.view());
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

TEST_CASE("F119 a text that is shown loses a token in hexadecimal and in base64") {
  const TokenSearch search({"hY7-kQ2.zR9_\xfb\xff\xfe?"});
  const std::string hex = "6859372d6b51322e7a52395ffbfffe3f";
  CHECK(found(search, "is " + hex + "!") == "is " + std::string(hex.size(), '*') + "!");
  CHECK(found(search, "6859372D6B51") == "************");
  CHECK(found(search, "6859372D6B5") == "6859372D6B5");
  // After none, one and two other bytes; groups of three bytes that it shares may stay.
  const std::string stars(20, '*');
  CHECK(found(search, "aFk3LWtRMi56Ujlf+//+Pw==") == stars + "Pw==");
  CHECK(found(search, "QmhZNy1rUTIuelI5X/v//j8=") == "QmhZ" + stars.substr(4) + "/j8=");
  CHECK(found(search, "QmVoWTcta1EyLnpSOV/7//4/") == "QmVo" + stars);
  CHECK(found(search, "QmVoWTcta1EyLnpSOV_7__4_") == "QmVo" + stars);
  // Numbers look like a few bytes in hexadecimal.
  CHECK(found(TokenSearch({"token-0123456789"}), "order 3031323334") == "order 3031323334");
}

TEST_CASE("F119 a text that is shown loses every piece of a token, and nothing else") {
  const TokenSearch search({"hY7-kQ2.zR9_"});
  CHECK(found(search, "got hY7-kQ2.zR9_!") == "got ************!");
  CHECK(found(search, "got hY7-kQ2") == "got *******");
  CHECK(found(search, "kQ2.zR9_ is") == "******** is");
  CHECK(found(search, "GOT HY7-KQ2.ZR9_") == "GOT ************");
  CHECK(found(search, "hY7-k") == "hY7-k");  // five characters say too little
  CHECK(found(search, "hY7-k hY7-kQ Q2.zR9") == "hY7-k ****** ******");
  CHECK(found(search, "") == "");
}

TEST_CASE("short tokens are found as a unit, and the shortest not at all") {
  const TokenSearch search({"ab-1", "Cd-45", "abc"});
  CHECK(found(search, "ab-1 ab- cd-45 cd-4 abc AB-1") == "**** ab- ***** cd-4 abc ****");
}

TEST_CASE("F119 a token in a body is overwritten in any spelling, at any place") {
  Random random(7);
  for (const std::size_t length : {8u, 9u, 13u, 31u, 32u, 33u, 63u, 64u, 520u, 4000u}) {
    const std::string token = random_token(random, length);
    const TokenSearch search({token});
    for (const Respell respell : respellings) {
      std::string spelled;
      for (const char c : token) spelled += respell(c);
      for (const std::size_t before : {0u, 1u, 5u, 15u, 16u, 17u, 31u, 100u, 32700u, 40000u}) {
        CAPTURE(length);
        CAPTURE(before);
        CAPTURE(spelled.substr(0, 100));
        const std::string head = "\"" + std::string(before, ' ') + "\"Bearer ";
        const std::string tail = "\",\"quantity\":5";
        const std::string left = overwritten(search, head + spelled + tail);
        const std::string filler(spelled.size() - TokenSearch::mark.size(), 'X');
        CHECK((left == head + "<token>" + filler + tail));
      }
    }
  }
}

TEST_CASE("F119 a token of which only some characters are escaped is overwritten as one") {
  Random random(8);
  for (int round = 0; round < 300; ++round) {
    const std::string token = random_token(random, 8 + random() % 200);
    std::string spelled;
    for (const char c : token) spelled += respellings[random() % 3 == 0 ? random() % 7 : 0](c);
    const std::string text = "{\"a\":\"" + spelled + "\"}";
    CAPTURE(token);
    CAPTURE(text);
    const std::string left = overwritten(TokenSearch({token}), text);
    CHECK(left.substr(0, 13) == "{\"a\":\"<token>");
    CHECK(left.find_first_not_of('X', 13) == text.size() - 2);
  }
}

TEST_CASE("F119 a token is overwritten completely where an escape splits off a short piece") {
  const std::string token = "hY7-kQ2.zR9_hY3-kQ6.zR5_aB1-cD4.eF7_+gH2-jK5";
  const std::string spelled = "hY7-kQ2.zR9_hY3-kQ6.zR5_aB1-cD4.eF7_&#43;gH2-jK5";
  Buffer body(spelled);
  CHECK(TokenSearch({token}).overwrite(body) == 1);
  CHECK(body.view() == "<token>" + std::string(spelled.size() - 7, 'X'));
}

TEST_CASE("data keeps what may be a value") {
  const std::string body = R"({"order_no":"1100420017","x":"00000000","symbol":"INFY-EQ","a":1e9})";
  for (const char* token : {"1100420017", "00000000", "000000000a", "INFY-EQ", "order_no\":\"99"}) {
    CAPTURE(token);
    CHECK(overwritten(TokenSearch({token}), body) == body);
  }
  const std::string token = "hY7-kQ2.zR9_hY3-kQ6.zR5_aB1-cD4.eF7_";
  const std::string piece = token.substr(2, 31);
  CHECK(overwritten(TokenSearch({token}), piece) == piece);
  CHECK(overwritten(TokenSearch({token}), token.substr(2, 32)) == "<token>" + std::string(25, 'X'));
}

TEST_CASE("a body without a token is left as it is, whatever escapes it has") {
  Random random(9);
  const TokenSearch search({random_token(random, 40), random_token(random, 8)});
  const std::string pieces[] = {"\\u0026",
                                "M&M",
                                "100%",
                                "\\/",
                                "%2F",
                                "https:\\/\\/a.b\\/c",
                                "\\u0939\\u093f",
                                "abcdefghijklmnopqrstuvwxyz0123456789",
                                " ",
                                "\",\"",
                                "\\\\",
                                "&amp;",
                                "\xE2\x82\xB9"};
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (std::size_t i = random() % 60; i > 0; --i) text += pieces[random() % std::size(pieces)];
    Buffer body(text);
    CHECK(search.overwrite(body) == 0);
    CHECK(body.view() == text);
  }
  Buffer empty;
  CHECK(search.overwrite(empty) == 0);
}

TEST_CASE("several tokens are counted, each once") {
  const TokenSearch search({"first-token-1", "Second/Token+2"});
  Buffer body(R"(first-token-1, Second\/Token\u002B2 and first-token-1)");
  CHECK(search.overwrite(body) == 3);
  CHECK(body.view() == "<token>XXXXXX, <token>XXXXXXXXXXXXX and <token>XXXXXX");
}
