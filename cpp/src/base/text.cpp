// Scans, validates, unescapes and writes JSON strings, in blocks while they are plain ASCII.
#include "base/text.hpp"

#include "base/simd.hpp"

namespace tradingdata {

namespace {

// The value of a \u escape's four digits, which are known to be digits.
int hex_quad(const char* digits) {
  int value = 0;
  for (int i = 0; i < 4; ++i) value = value * 16 + hex_digit(digits[i]);
  return value;
}

bool is_high_surrogate(int unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low_surrogate(int unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

char* put_utf8(char* out, int code) {
  constexpr int leads[] = {0, 0xC0, 0xE0, 0xF0};
  int left = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // behind the first
  *out++ = static_cast<char>(leads[left] | code >> 6 * left);
  while (left-- > 0) *out++ = static_cast<char>(0x80 | (code >> 6 * left & 0x3F));
  return out;
}

// The letters of short escapes, and the characters that they stand for.
constexpr std::string_view escape_letters = "\"\\/bfnrt";
constexpr std::string_view escape_meanings = "\"\\/\b\f\n\r\t";

// Passes the escape at a backslash; if it is malformed, returns false with `at` on the bad byte.
bool pass_escape(const char*& at) {
  ++at;
  const bool is_code = *at == 'u';
  if (!is_code && escape_letters.find(*at) == std::string_view::npos) return false;
  ++at;
  for (int i = 0; i < 4 && is_code; ++i, ++at) {
    if (hex_digit(*at) < 0) return false;
  }
  return true;
}

constexpr int replacement_character = 0xFFFD;

}  // namespace

Utf8Scan scan_utf8(const char* text) {
  const auto byte = [text](int i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, 1};
  if (lead < 0xC2 || lead > 0xF4) return {0, 0};
  // What the second byte may be: no overlong form, no surrogate, nothing beyond U+10FFFF.
  unsigned char lowest = 0x80;
  unsigned char highest = 0xBF;
  switch (lead) {
    case 0xE0: lowest = 0xA0; break;
    case 0xED: highest = 0x9F; break;
    case 0xF0: lowest = 0x90; break;
    case 0xF4: highest = 0x8F; break;
    default: break;
  }
  if (byte(1) < lowest || byte(1) > highest) return {0, 1};
  const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (int i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, i};
  }
  return {length, length};
}

StringScan scan_string(const char* from) {
  StringScan scan{.end = nullptr};
  const char* at = from;
  const auto malformed = [&](const char* problem, const char* reached) {
    scan.fault = at;
    scan.reached = reached;
    scan.problem = problem;
    return scan;
  };
  for (;;) {
    const std::size_t plain = detail::plain_length(at);
    at += plain;
    if (plain == 32) continue;
    if (*at == '"') {
      scan.end = at;
      return scan;
    }
    if (*at == '\\') {
      const char* behind = at;
      if (!pass_escape(behind)) return malformed("an escape that JSON does not know", behind);
      scan.escaped = true;
      at = behind;
    } else if (static_cast<unsigned char>(*at) >= 0x80) {
      // A run of other scripts: blocks of 16 would stop at each of its bytes.
      do {
        const Utf8Scan character = scan_utf8(at);
        if (character.length == 0) return malformed("invalid UTF-8", at + character.fitting);
        at += character.length;
      } while (static_cast<unsigned char>(*at) >= 0x80);
    } else {
      return malformed("a control character inside text", at);
    }
  }
}

std::int64_t unescape(const char* from, const char* to, char* out, bool& damaged) {
  char* const start = out;
  while (from < to) {
    if (*from != '\\') {
      *out++ = *from++;
      continue;
    }
    if (from[1] != 'u') {
      *out++ = escape_meanings[escape_letters.find(from[1])];
      from += 2;
      continue;
    }
    int code = hex_quad(from + 2);
    from += 6;
    if (is_high_surrogate(code) && to - from >= 6 && from[0] == '\\' && from[1] == 'u' &&
        is_low_surrogate(hex_quad(from + 2))) {
      code = 0x10000 + ((code - 0xD800) << 10) + (hex_quad(from + 2) - 0xDC00);
      from += 6;
    } else if (is_high_surrogate(code) || is_low_surrogate(code)) {
      code = replacement_character;
      damaged = true;
    }
    out = put_utf8(out, code);
  }
  return out - start;
}

std::string unescaped(const char* from, const char* to) {
  bool damaged = false;
  std::string text(static_cast<std::size_t>(to - from), '\0');
  text.resize(static_cast<std::size_t>(unescape(from, to, text.data(), damaged)));
  return text;
}

// Copies the plain stretches of a text, and escapes what is between them.

namespace {

void put_escaped(std::string& out, char c) {
  out += '\\';
  if (c == '"' || c == '\\') {
    out += c;
    return;
  }
  constexpr char hex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "u00";
  out += hex[byte >> 4];
  out += hex[byte & 15];
}

}  // namespace

void put_json_text(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;  // where the characters begin that go out as they are
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20) continue;
    out += text.substr(plain, i - plain);
    put_escaped(out, c);
    plain = i + 1;
  }
  out += text.substr(plain);
  out += '"';
}

}  // namespace tradingdata
