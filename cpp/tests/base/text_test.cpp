// JSON strings: scanning, UTF-8 validation and unescaping.
#include <doctest/doctest.h>

#include <string>

#include "base/memory.hpp"
#include "base/simd.hpp"
#include "base/text.hpp"

using namespace tradingdata;

namespace {

// A code point in UTF-8 by the book, also where it is not allowed.
std::string encoded(int code) {
  const auto tail = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

struct Scanned {
  std::int64_t end;    // -1: malformed
  std::int64_t fault;  // of a malformed one
  bool cut;
  bool escaped;
};

Scanned scan(std::string_view content) {
  const Buffer buffer(content);
  const StringScan found = scan_string(buffer.data());
  const char* const end = buffer.data() + buffer.size();
  if (found.end != nullptr) return {found.end - buffer.data(), -1, false, found.escaped};
  return {-1, found.fault - buffer.data(), found.reached >= end, false};
}

bool accepts(const std::string& content) {
  return scan(content + '"').end == static_cast<std::int64_t>(content.size());
}

std::string plain(std::string_view text, bool& damaged) {
  std::string out(text.size(), '?');
  damaged = false;
  out.resize(static_cast<std::size_t>(
      unescape(text.data(), text.data() + text.size(), out.data(), damaged)));
  return out;
}

}  // namespace

TEST_CASE("every code point's UTF-8 is one character, but for the surrogates") {
  for (int code = 0x80; code < 0x110000; ++code) {
    const std::string text = encoded(code);
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    const int length = scan_utf8(text.c_str()).length;
    if (length != (surrogate ? 0 : static_cast<int>(text.size()))) FAIL("code point " << code);
  }
}

TEST_CASE("of all two, three and four byte runs, none but the code points' own are accepted") {
  // Whatever is accepted decodes to a code point whose own encoding is the same bytes.
  std::string text(5, '\0');
  const auto sound = [&](int length) {
    const auto byte = [&](int i) {
      return static_cast<unsigned char>(text[static_cast<std::size_t>(i)]);
    };
    int code = byte(0) & (length == 2 ? 0x1F : length == 3 ? 0x0F : 0x07);
    for (int i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3F);
    return encoded(code) == text.substr(0, static_cast<std::size_t>(length)) && code < 0x110000 &&
           (code < 0xD800 || code >= 0xE000);
  };
  constexpr unsigned char edges[] = {0x00, 0x22, 0x7F, 0x80, 0x8F, 0x90,
                                     0x9F, 0xA0, 0xBF, 0xC0, 0xFF};
  int accepted = 0;
  for (int lead = 0x80; lead < 0x100; ++lead) {
    for (int second = 0; second < 0x100; ++second) {
      for (const unsigned char third : edges) {
        for (const unsigned char fourth : edges) {
          text = {static_cast<char>(lead), static_cast<char>(second), static_cast<char>(third),
                  static_cast<char>(fourth), '\0'};
          const int length = scan_utf8(text.c_str()).length;
          if (length == 1 || (length > 1 && !sound(length))) FAIL(lead << ' ' << second);
          accepted += length > 0 ? 1 : 0;
        }
      }
    }
  }
  CHECK(accepted > 100'000);
}

TEST_CASE("a special byte is found at every distance") {
  for (std::size_t at = 0; at < 100; ++at) {
    const std::string before(at, 'a');
    CHECK(scan(before + "\"tail").end == static_cast<std::int64_t>(at));
    CHECK(scan(before + "\n\"").fault == static_cast<std::int64_t>(at));
    CHECK(scan(before + "\xFF\"").fault == static_cast<std::int64_t>(at));
    CHECK(scan(before + "\\x\"").fault == static_cast<std::int64_t>(at));
    CHECK(accepts(before + "\\n" + before));
    CHECK(accepts(before + "\xE0\xA4\x9F" + before));
    CHECK(accepts(before + "\xF0\x9F\x93\x88\xE2\x82\xB9"));
  }
}

TEST_CASE("control characters are refused inside text, and DEL is not one") {
  for (int byte = 0; byte < 0x20; ++byte)
    CHECK_FALSE(accepts(std::string("ab") + static_cast<char>(byte)));
  CHECK(accepts("\x7F"));
}

TEST_CASE("JSON's escapes are accepted and no others") {
  constexpr std::string_view known = "\"\\/bfnrt";
  for (int byte = 1; byte < 0x100; ++byte) {
    const char letter = static_cast<char>(byte);
    const std::string text = std::string("\\") + letter + "0041";
    CHECK(accepts(text) == (known.find(letter) != known.npos || letter == 'u'));
  }
  for (std::string digits : {"12x4", "g123", "123g", "123", "12 4", "+123", "-123", "0x12"}) {
    CHECK_FALSE(accepts("\\u" + digits));
  }
  for (std::string digits : {"abcd", "ABCD", "0000", "9fF0"}) CHECK(accepts("\\u" + digits));
  CHECK(scan("a\\\"b\"").escaped);
  CHECK_FALSE(scan("ab\"").escaped);
}

TEST_CASE("text that was cut short is distinguished from malformed text") {
  const std::string whole =
      "a\\n\\u20B9 \xC2\xB5 \xE0\xA4\x9F \xED\x9F\xBF \xF0\x9F\x93\x88 \xF4\x8F\xBF\xBF";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const Scanned cut = scan(std::string_view(whole).substr(0, size));
    CHECK(cut.end == -1);
    CHECK(cut.cut);
  }
  for (std::string bad :
       {"\xFF", "\x80", "\xC0", "\xE0\x80", "\xED\xA0", "\xF0\x80", "\xF4\x90", "\xF5"}) {
    CHECK_FALSE(scan(bad).cut);
  }
  CHECK_FALSE(scan("\\u12x").cut);
  CHECK_FALSE(scan(std::string_view("a\0b", 3)).cut);
}

TEST_CASE("escapes become their characters") {
  bool damaged = false;
  CHECK(plain(R"(\"\\\/\b\f\n\r\t)", damaged) == "\"\\/\b\f\n\r\t");
  CHECK(plain(R"(a\u0041\u00b5\u20B9z)", damaged) == "aA\xC2\xB5\xE2\x82\xB9z");
  CHECK(plain(R"(\ud83d\udcc8)", damaged) == "\xF0\x9F\x93\x88");
  CHECK(plain(R"(\uDBFF\uDFFF)", damaged) == encoded(0x10FFFF));
  CHECK_FALSE(damaged);
  CHECK(plain(R"(1\u00002)", damaged) == std::string("1\0\x32", 3));
  for (int code = 0; code < 0x10000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(code));
    if (plain(escape, damaged) != encoded(code) || damaged) FAIL(code);
  }
}

TEST_CASE("half a surrogate pair becomes U+FFFD at any place") {
  const std::string mark = "\xEF\xBF\xBD";
  bool damaged = false;
  const auto check = [&](std::string_view text, const std::string& expected) {
    CHECK(plain(text, damaged) == expected);
    CHECK(damaged);
  };
  check(R"(\ud800)", mark);
  check(R"(a\udfffb)", "a" + mark + "b");
  check(R"(\ud800x)", mark + "x");
  check(R"(\ud800\n)", mark + "\n");
  check(R"(\ud800\u0041)", mark + "A");
  check(R"(\ud800\ud800\udc00)", mark + encoded(0x10000));
  check(R"(\udc00\ud800)", mark + mark);
  check(R"(\ud800\\udc00)", mark + "\\udc00");
}
