// Inflating in pieces: limits, damage, members and trailing bytes.
#include "http/inflate.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/gzip.hpp"

using namespace tradingdata;
using bodies::gzipped;
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

TEST_CASE("F41 F42 no prefix of a gzip body passes for its end") {
  const std::string packed = gzipped(compressible_text(2000), 6, true);
  for (std::size_t size = 1; size < packed.size(); ++size) {
    const Unpacked cut = unpack(packed.substr(0, size), 0, packed.size());
    REQUIRE((cut.result == InflateResult::good && !cut.ended));
  }
}

TEST_CASE("F40 no changed byte of the data or of its checksum changes the text unseen") {
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

TEST_CASE("F43 bytes behind the last member are damage, not data") {
  for (const char* trailing : {"x", "trailing bytes", "\x1F\x8Bno member"}) {
    for (const std::size_t piece : {1UL, 1000UL}) {
      const Unpacked unpacked = unpack(gzipped("one", 6) + trailing, 0, piece);
      CHECK_FALSE((unpacked.result == InflateResult::good && unpacked.ended));
    }
  }
}

TEST_CASE("F36 the limit holds to the byte") {
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
