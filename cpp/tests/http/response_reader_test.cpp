// Responses as libcurl delivers them, and their compressed bodies.
#include "http/response_reader.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "http/inflate.hpp"
#include "http/transfer_failure.hpp"
#include "support/gzip.hpp"

using namespace tradingdata;
using bodies::gzipped;
using detail::Receiver;

namespace {

struct Reading {
  Receiver receiver;
  bool going = true;
  std::optional<Failure> failure;

  Reading(int status, std::initializer_list<std::pair<const char*, std::string_view>> headers,
          std::string_view body = {}, std::int64_t max_body = 1 << 20, std::size_t piece = 100000) {
    receiver.start(max_body);
    going = receiver.head(status, [&](std::string_view name, std::size_t index) {
      for (const auto& [known, value] : headers) {
        if (known == name && index-- == 0) return std::optional(value);
      }
      return std::optional<std::string_view>();
    });
    for (std::size_t at = 0; going && at < body.size(); at += piece) {
      going = receiver.body(body.substr(at, piece));
    }
    failure = receiver.finish();
  }

  std::string_view text() { return receiver.response().body.view(); }
  std::string why() const { return failure ? failure->message : ""; }
};

}  // namespace

TEST_CASE("a refusal has the headers that matter to it") {
  Reading reading(503, {{"Retry-After", "5"}, {"Date", "then"}, {"Location", "/there"}}, "busy");
  CHECK_FALSE(reading.failure);
  CHECK(reading.receiver.response().retry_after == "5");
  CHECK(reading.receiver.response().date == "then");
  CHECK(reading.receiver.response().location == "/there");
  CHECK_FALSE(reading.receiver.response().limits);
  Reading limited(403, {{"X-RateLimit-Remaining", "0"}}, "slow down");
  CHECK(limited.receiver.response().limits);
}

TEST_CASE("the lines of heads and trailers have a limit") {
  Receiver receiver;
  receiver.start(1000);
  int lines = 0;
  while (receiver.header_line(std::string(1000, 'x'))) ++lines;
  CHECK(lines == 262);
  CHECK(receiver.failure()->message.find("larger than 256 KiB") != std::string::npos);
}

TEST_CASE("lengths that differ or are none are errors, unless the status is one") {
  for (const char* length :
       {"5", "-4", "4x", "+4", "4, 5", "4,", "", "04", "0x4", "99999999999999999999"}) {
    CAPTURE(length);
    CHECK(Reading(200, {{"Content-Length", "4"}, {"Content-Length", length}}, "good").failure);
    CHECK_FALSE(
        Reading(503, {{"Content-Length", "4"}, {"Content-Length", length}}, "busy").failure);
  }
  for (const char* length : {"4", "4, 4", "4,4 , 4"}) {
    CAPTURE(length);
    CHECK_FALSE(Reading(200, {{"Content-Length", length}}, "good").failure);
    CHECK_FALSE(
        Reading(200, {{"Content-Length", "4"}, {"Content-Length", length}}, "good").failure);
  }
}

TEST_CASE("a transfer encoding of none ends where the length says") {
  Reading reading(200, {{"Transfer-Encoding", "identity"}, {"Content-Length", "4"}}, "good", 99, 2);
  CHECK_FALSE(reading.going);
  CHECK_FALSE(reading.failure);
  CHECK(reading.receiver.complete());
  Reading cut(200, {{"Transfer-Encoding", "identity"}, {"Content-Length", "5"}}, "good");
  CHECK(cut.why() == "incomplete body: the response ended after 4 bytes");
  CHECK(cut.failure->retry == Retry::always);
  Reading endless(200, {{"Transfer-Encoding", "identity"}}, "good");
  CHECK(endless.going);
  CHECK(endless.receiver.close_delimited());
}

TEST_CASE("a body beyond the cap stops, with or without a length") {
  const std::string body(2000, 'x');
  using Header = std::pair<const char*, std::string_view>;
  for (const Header& framing :
       {Header("Content-Length", "2000"), Header("Transfer-Encoding", "chunked")}) {
    Reading reading(200, {framing}, body, 1999, 100);
    CHECK_FALSE(reading.going);
    CHECK(reading.why().find("larger than max_body (1999 bytes") != std::string::npos);
    CHECK(reading.failure->retry == Retry::never);
  }
  CHECK_FALSE(Reading(200, {{"Content-Length", "2000"}}, body, 2000, 100).failure);
  CHECK(Reading(200, {{"Content-Length", "2147483648"}}, "", INT64_MAX).failure);
}

TEST_CASE("compressed bytes that become nothing have a limit too") {
  const std::string name(400'000, 'x');  // of the file, in the head of gzip data
  const std::string head("\x1f\x8b\x08\x08\0\0\0\0\0\x03", 10);
  Reading endless(200, {{"Content-Encoding", "gzip"}}, head + name, 100'000, 1000);
  CHECK_FALSE(endless.going);
  CHECK(endless.why() == "the response is larger than max_body (100000 bytes)");
  CHECK(endless.receiver.received() < 170'000);
  Reading refusal(503, {{"Content-Encoding", "gzip"}}, head + name, 100'000, 1000);
  CHECK_FALSE(refusal.going);
  CHECK_FALSE(refusal.failure);
}

TEST_CASE("other and stacked encodings are errors") {
  for (const char* coding : {"br", "deflate", "gzip, gzip", "gzip,br", "zstd"}) {
    CAPTURE(coding);
    CHECK(Reading(200, {{"Content-Encoding", coding}}, "xx").failure);
  }
  CHECK(Reading(200, {{"Content-Encoding", "gzip"}, {"Content-Encoding", "gzip"}}).failure);
  CHECK(Reading(200, {{"Transfer-Encoding", "gzip, chunked"}}).failure);
  for (const char* none : {"identity", "none", "UTF-8", "utf8", ""}) {
    CAPTURE(none);
    CHECK(Reading(200, {{"Content-Encoding", none}}, "x").text() == "x");
  }
}

TEST_CASE("an error keeps its status whatever its body is, and its body stays small") {
  Reading odd(503, {{"Content-Encoding", "br"}}, "xx");
  CHECK_FALSE(odd.failure);
  CHECK(odd.receiver.refused());
  Reading endless(500, {{"Transfer-Encoding", "chunked"}}, std::string(500'000, 'x'));
  CHECK_FALSE(endless.failure);
  CHECK_FALSE(endless.going);
  CHECK(endless.text().size() == 64 * 1024);
}

// Inflating in pieces: limits, damage, members and trailing bytes.

using detail::Inflater;
using detail::InflateResult;

namespace {

constexpr std::int64_t no_limit = 1 << 30;

std::string compressible_text(std::size_t size) {
  std::string text;
  unsigned state = 7;
  while (text.size() < size) {
    text += "\"quantity\":";
    text += std::to_string((state = state * 1664525 + 1013904223) >> 20);
  }
  text.resize(size);
  return text;
}

struct Unpacked {
  InflateResult result = InflateResult::good;
  bool ended = false;
  std::string text;
};

Unpacked unpack(std::string_view packed, std::size_t first, std::size_t piece,
                std::int64_t limit = no_limit) {
  Inflater inflater;
  Buffer out;
  Unpacked unpacked;
  std::size_t at = 0;
  while (at < packed.size() && unpacked.result == InflateResult::good) {
    const std::size_t size = at == 0 && first > 0 ? first : piece;
    unpacked.result = inflater.feed(packed.substr(at, size), out, limit);
    at += size;
  }
  unpacked.ended = inflater.ended();
  unpacked.text = out.view();
  CHECK(std::string_view(out.data() + out.size(), 64) == std::string(64, '\0'));
  return unpacked;
}

}  // namespace

TEST_CASE("gzip unpacks to the same bytes wherever its chunks end") {
  const std::string text = compressible_text(3000);
  for (const int level : {0, 1, 9}) {
    for (const bool long_header : {false, true}) {
      const std::string packed = gzipped(text, level, long_header) + gzipped("two", level);
      for (std::size_t first = 1; first < packed.size(); ++first) {
        CAPTURE(level);
        CAPTURE(long_header);
        CAPTURE(first);
        const Unpacked whole = unpack(packed, first, packed.size());
        CAPTURE(static_cast<int>(whole.result));
        CAPTURE(whole.text.size());
        REQUIRE((whole.result == InflateResult::good && whole.ended));
        REQUIRE((whole.text == text + "two"));
      }
      const Unpacked bytes = unpack(packed, 0, 1);
      CHECK((bytes.result == InflateResult::good && bytes.ended && bytes.text == text + "two"));
    }
  }
}

TEST_CASE("a large body grows its buffer on the way and stays complete") {
  const std::string text = compressible_text(3'000'000);
  for (const std::size_t piece : {100UL, 16'384UL, 10'000'000UL}) {
    const Unpacked unpacked = unpack(gzipped(text, 6), 0, piece);
    CHECK((unpacked.result == InflateResult::good && unpacked.ended));
    CHECK((unpacked.text == text));
  }
}

TEST_CASE("no prefix of a gzip body passes for its end") {
  const std::string packed = gzipped(compressible_text(2000), 6, true);
  for (std::size_t size = 1; size < packed.size(); ++size) {
    const Unpacked cut = unpack(packed.substr(0, size), 0, packed.size());
    REQUIRE((cut.result == InflateResult::good && !cut.ended));
  }
}

TEST_CASE("no changed byte of the data or of its checksum changes the text unseen") {
  const std::string text = compressible_text(500);
  const std::string packed = gzipped(text, 6);
  constexpr std::size_t fixed_header = 10;
  for (std::size_t at = fixed_header; at < packed.size(); ++at) {
    for (const int bit : {1, 16, 128}) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      const Unpacked unpacked = unpack(damaged, 0, damaged.size());
      // Bits that fill the last byte of the data mean nothing.
      const bool sound = unpacked.result == InflateResult::good && unpacked.ended;
      REQUIRE((!sound || unpacked.text == text));
    }
  }
}

TEST_CASE("zeros and line ends behind the last member are padding, and the last of the body") {
  for (const char* const padding : {"\r\n", "\n", "\r\n\r\n"}) {
    for (const std::string& more :
         {std::string(padding), std::string(512, '\0'), std::string(7, '\0') + padding}) {
      for (const std::size_t piece : {1UL, 3UL, 1000UL}) {
        const Unpacked unpacked = unpack(gzipped("one", 6) + gzipped("two", 6) + more, 0, piece);
        CHECK((unpacked.result == InflateResult::good && unpacked.ended));
        CHECK(unpacked.text == "onetwo");
        for (const std::string& then : {std::string("x"), gzipped("two", 6)}) {
          CHECK(unpack(gzipped("one", 6) + more + then, 0, piece).result == InflateResult::corrupt);
        }
      }
    }
  }
}

TEST_CASE("bytes behind the last member are damage, not data") {
  for (const char* trailing : {"x", "<html>", "trailing bytes", "\x1F\x8Bno member"}) {
    for (const std::size_t piece : {1UL, 1000UL}) {
      const Unpacked unpacked = unpack(gzipped("one", 6) + trailing, 0, piece);
      CHECK_FALSE((unpacked.result == InflateResult::good && unpacked.ended));
      // Not the beginning of a member that is cut.
      if (trailing[0] != '\x1F') CHECK(unpacked.result == InflateResult::corrupt);
    }
  }
}

TEST_CASE("the limit holds to the byte") {
  const std::string text = compressible_text(200'000);
  const std::string packed = gzipped(text, 9);
  const auto size = static_cast<std::int64_t>(text.size());
  CHECK(unpack(packed, 0, 999, size).result == InflateResult::good);
  for (const std::int64_t limit : {size - 1, std::int64_t{100'000}, std::int64_t{0}}) {
    const Unpacked unpacked = unpack(packed, 0, 999, limit);
    CHECK(unpacked.result == InflateResult::too_large);
    CHECK((unpacked.text == text.substr(0, static_cast<std::size_t>(limit))));
  }
}
