#include "http/secret.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/error.hpp"
#include "http/tokens.hpp"

using namespace tradingdata;

TEST_CASE("F100 a token that cannot be a header is refused without being shown") {
  const std::string canary = "canary-51423";
  for (const char* odd : {"\r", "\n", " ", "\t", "\x01", "\x7f", "\xc3\xa9", "\xe2\x82\xac"}) {
    for (const std::string& token : {canary + odd, odd + canary, canary + odd + canary}) {
      try {
        const Secret secret(token);
        FAIL("accepted");
      } catch (const Error& error) {
        CHECK(error.kind == ErrorKind::configuration);
        CHECK(std::string(error.what()).find(canary) == std::string::npos);
      }
    }
  }
  CHECK_THROWS_AS(Secret(std::string_view("a\0b", 3)), Error);
  CHECK_THROWS_AS(Secret(""), Error);
  CHECK_THROWS_AS(Secret(std::string(65 * 1024, 'x')), Error);
}

TEST_CASE("a token stands in its header as it is") {
  const Secret secret("eyJ0eXAi.x/y+z~==");
  CHECK(secret.reveal() == "eyJ0eXAi.x/y+z~==");
  CHECK(std::string(secret.header()) == "Authorization: Bearer eyJ0eXAi.x/y+z~==");
}

TEST_CASE("a token is scrubbed in every form in which it may be echoed") {
  const Secret secret("abc/def+123");
  std::string text = "got abc/def+123, abc\\/def+123 and abc%2Fdef%2B123; abc/de";
  secret.scrub(text);
  CHECK(text == "got <token>, <token> and <token>; abc/de");
  secret.scrub(text, true);
  CHECK(text == "got <token>, <token> and <token>; ");
}

TEST_CASE("the tokens before the current one are scrubbed too, the last eight of them") {
  Tokens tokens;
  const auto scrubbed = [&](std::string text, bool cut = false) {
    tokens.scrub(text, cut);
    return text;
  };
  CHECK(scrubbed("token-0") == "token-0");
  CHECK(tokens.set("token-0"));
  CHECK_FALSE(tokens.set("token-0"));
  for (int i = 1; i <= 8; ++i) CHECK(tokens.set("token-" + std::to_string(i)));
  CHECK(tokens.current()->reveal() == "token-8");
  for (int i = 0; i <= 8; ++i) CHECK(scrubbed("a token-" + std::to_string(i)) == "a <token>");
  CHECK(scrubbed("a toke", true) == "a ");
  tokens.clear();
  CHECK(tokens.current() == nullptr);
  CHECK(scrubbed("token-8") == "<token>");
  CHECK(scrubbed("token-0") == "token-0");  // the oldest had to go
}

TEST_CASE("a token that comes back pushes no other one out") {
  Tokens tokens;
  tokens.set("first-1");
  for (int i = 0; i < 20; ++i) tokens.set(i % 2 == 0 ? "second-2" : "third-3");
  std::string text = "first-1 second-2 third-3";
  tokens.scrub(text);
  CHECK(text == "<token> <token> <token>");
}
