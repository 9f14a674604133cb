// Each function of simd.hpp against the obvious loop, for every byte in every place. The same tests
// run with SSE2, NEON and the portable form, so that all three agree.
#include "base/simd.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace tradingdata;

namespace {

constexpr std::size_t padding = 64;  // what a body has behind its end

std::string padded(std::string_view text) {
  return std::string(text) + std::string(padding, '"');
}

bool is_special(unsigned char byte) {
  return byte == '"' || byte == '\\' || byte < 0x20 || byte >= 0x80;
}

template <typename Test>
std::uint32_t expected_mask(std::string_view text, Test test) {
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    if (test(static_cast<unsigned char>(text[i]))) mask |= std::uint32_t{1} << i;
  }
  return mask;
}

// Compares the function with the loop for each value in each place among `others`.
template <typename Function, typename Test>
int differences(char others, Function function, Test test) {
  int count = 0;
  for (std::size_t place = 0; place < 16; ++place) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = padded(std::string(16, others));
      text[place] = static_cast<char>(byte);
      count += function(text.data()) != expected_mask(text, test);
    }
  }
  return count;
}

}  // namespace

TEST_CASE("the bytes that end plain text are found in each place") {
  for (const char others : {'a', '"', '\x7F', '\x80'}) {
    CHECK(differences(others, detail::special_in_16, is_special) == 0);
  }
}

TEST_CASE("the bytes that are no digits are found in each place") {
  const auto other = [](unsigned char byte) { return byte < '0' || byte > '9'; };
  for (const char others : {'0', '9', '/', ':', '\xB0'}) {
    CHECK(differences(others, detail::other_than_digits, other) == 0);
  }
}

TEST_CASE("plain text is measured up to 32 bytes") {
  for (std::size_t length = 0; length <= 40; ++length) {
    for (const char end : {'"', '\\', '\n', '\x1F', '\x80', '\xFF'}) {
      std::string text(length, 'x');
      text += end;
      CHECK(detail::plain_length(padded(text).data()) == std::min<std::size_t>(length, 32));
    }
  }
}

TEST_CASE("a key is compared in its own bytes only") {
  const std::string expected = padded("abcdefghijklmnopqrstuvwxyz012345");
  for (unsigned length = 0; length <= 32; ++length) {
    const std::uint32_t mask = length == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << length) - 1;
    for (std::size_t place = 0; place < 32; ++place) {
      std::string text = expected;
      CHECK(detail::same_bytes(text.data(), expected.data(), mask));
      text[place] = static_cast<char>(text[place] ^ 0x80);
      CHECK(detail::same_bytes(text.data(), expected.data(), mask) == (place >= length));
    }
  }
}

TEST_CASE("a view has the length, the characters or the place of its text") {
  const std::string text = padded("\xE2\x82\xB9 the text of a cell, of 32 b");
  for (const std::int64_t offset :
       {std::int64_t{0}, std::int64_t{1234567}, std::int64_t{INT32_MAX}}) {
    for (std::size_t size = 0; size <= 32; ++size) {
      const std::string_view cell(text.data(), size);
      const TextView expected = size <= TextView::inline_capacity
                                    ? TextView::make_inline(cell)
                                    : TextView::make_place(cell, 0, offset);
      TextView view;
      detail::store_view(&view, text.data(), size, offset);
      CHECK(std::memcmp(&view, &expected, sizeof view) == 0);
    }
  }
}
