#include "tradingdata/text.hpp"

#include <bit>

#include "simd.hpp"

namespace tradingdata {

namespace {

bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The value of a \u escape's four digits, which are known to be digits.
int hex_quad(const char* digits) {
  int value = 0;
  for (int i = 0; i < 4; ++i) value = value * 16 + hex_digit(digits[i]);
  return value;
}

bool is_high_surrogate(int unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low_surrogate(int unit) { return unit >= 0xDC00 && unit < 0xE000; }

char* put_utf8(char* out, int code) {
  const auto put = [&out](int byte) { *out++ = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
  return out;
}

// Passes the escape at a backslash; false, and `at` stands on the first byte that does not fit.
bool pass_escape(const char*& at) {
  ++at;
  switch (*at) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': ++at; return true;
    case 'u':
      ++at;
      for (int i = 0; i < 4; ++i, ++at) {
        if (hex_digit(*at) < 0) return false;
      }
      return true;
    default: return false;
  }
}

char simple_escape(char letter) {
  switch (letter) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return letter;
  }
}

constexpr int replacement_character = 0xFFFD;

}  // namespace

int utf8_sequence(const char* text) {
  const auto byte = [text](int i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (!is_continuation(byte(1))) return 0;
  if (lead < 0xE0) return 2;
  if (!is_continuation(byte(2))) return 0;
  if (lead < 0xF0) {
    const bool overlong = lead == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (lead > 0xF4 || !is_continuation(byte(3))) return 0;
  const bool overlong = lead == 0xF0 && byte(1) < 0x90;
  const bool beyond = lead == 0xF4 && byte(1) >= 0x90;
  return overlong || beyond ? 0 : 4;
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
    const std::uint32_t special = detail::special_bytes(at);
    if (special == 0) {
      at += 16;
      continue;
    }
    at += std::countr_zero(special);
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
        const int length = utf8_sequence(at);
        if (length == 0) {
          const char* reached = at + 1;
          while (is_continuation(static_cast<unsigned char>(*reached))) ++reached;
          return malformed("invalid UTF-8", reached);
        }
        at += length;
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
      *out++ = simple_escape(from[1]);
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

std::string masked(std::string_view text) {
  constexpr std::size_t account_number_length = 10;
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  bool shaped = text.size() == account_number_length;
  std::size_t characters = 0;
  for (const char c : text) {
    shaped = shaped && plain(c);
    if (!is_continuation(static_cast<unsigned char>(c))) ++characters;
  }
  std::string result(characters, 'X');
  if (shaped) {
    result.replace(0, 2, text.substr(0, 2));
    result.replace(8, 2, text.substr(8, 2));
  }
  return result;
}

}  // namespace tradingdata
