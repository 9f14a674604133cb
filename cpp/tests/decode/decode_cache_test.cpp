#include "decode/decode_cache.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/decoding.hpp"
#include "table/records.hpp"

using namespace tradingdata;

namespace {

std::string body_of(const std::string& text) {
  return R"({"status":"success","message":"","data":[{"pan_no":"ABCDE1234F","remarks":")" + text +
         "\"}]}";
}

TablePtr decoded(LastAnswer& last, const std::string& body, const DecodeOptions& options = {}) {
  return last.decode(order_schema, Buffer(body), options);
}

}  // namespace

TEST_CASE("the same body gives the same table, though its account numbers are masked there") {
  LastAnswer last;
  const TablePtr table = decoded(last, body_of("one"));
  CHECK(table->text(order_schema["pan_no"], 0) == "ABXXXXXX4F");
  CHECK(decoded(last, body_of("one")) == table);
  CHECK(decoded(last, body_of("one")) == table);
}

TEST_CASE("a body that differs in any byte is decoded, also in what is masked") {
  const std::string body = body_of("a text that is longer than any stripe of the digest");
  for (std::size_t i = body.find("ABCDE"); i < body.find('F'); ++i) {
    LastAnswer last;
    const TablePtr table = decoded(last, body);
    std::string other = body;
    other[i] = other[i] == 'Z' ? 'Y' : 'Z';
    CHECK(decoded(last, other) != table);
  }
  for (std::size_t length = 0; length < 80; ++length) {
    LastAnswer last;
    const TablePtr table = decoded(last, body_of(std::string(length, 'x')));
    CHECK(decoded(last, body_of(std::string(length + 1, 'x'))) != table);
    CHECK(decoded(last, body_of(std::string(length, 'x')) + " ") != table);
  }
}

TEST_CASE("only the last answer counts, and one that does not decode is none") {
  LastAnswer last;
  const TablePtr table = decoded(last, body_of("one"));
  const TablePtr other = decoded(last, body_of("two"));
  CHECK(decoded(last, body_of("one")) != table);
  CHECK_THROWS_AS(decoded(last, "{"), Error);
  CHECK_THROWS_AS(decoded(last, "{"), Error);
  CHECK(decoded(last, body_of("one"))->rows() == 1);
}

TEST_CASE("two watches do not share an answer") {
  LastAnswer one;
  LastAnswer two;
  CHECK(decoded(one, body_of("one")) != decoded(two, body_of("one")));
}
