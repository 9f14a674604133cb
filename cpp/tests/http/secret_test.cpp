// Which tokens can be sent, and that they are never shown.
#include "base/secrets.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/error.hpp"

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

TEST_CASE("a token is sent unchanged in its header") {
  const Secret secret("eyJ0eXAi.x/y+z~==");
  CHECK(secret.reveal() == "eyJ0eXAi.x/y+z~==");
  CHECK(std::string(secret.header()) == "Authorization: Bearer eyJ0eXAi.x/y+z~==");
}

namespace {

bool finds(const Tokens& tokens, std::string_view token) {
  bool found = false;
  tokens.search(nullptr)->find(token, [&](std::size_t from, std::size_t to) {
    found = found || (from == 0 && to == token.size());
  });
  return found;
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
  CHECK(tokens.current() == nullptr);
  CHECK(finds(tokens, "8-token-0"));
  tokens.set("9-token-0");
  CHECK_FALSE(finds(tokens, "0-token-0"));  // the oldest had to go
}

TEST_CASE("a token that comes back pushes no other one out") {
  Tokens tokens;
  tokens.set("first-11");
  for (int i = 0; i < 20; ++i) tokens.set(i % 2 == 0 ? "second-2" : "third-33");
  for (const char* token : {"first-11", "second-2", "third-33"}) CHECK(finds(tokens, token));
}

TEST_CASE("the token that a request was sent with is searched for, however old it is") {
  Tokens tokens;
  tokens.set("sent-with-this");
  const auto sent = tokens.current();
  for (int i = 0; i < 20; ++i) tokens.set(std::to_string(i) + "-token");
  CHECK_FALSE(finds(tokens, "sent-with-this"));
  int found = 0;
  tokens.search(sent)->find("sent-with-this 19-token", [&](std::size_t, std::size_t) { ++found; });
  CHECK(found == 2);
}
