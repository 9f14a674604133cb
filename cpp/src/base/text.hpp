// Text: classes of characters, how a column holds it, and JSON strings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tradingdata {

// Classes of ASCII characters, whatever the locale: <cctype> depends on it, and refuses bytes above
// 127 on some platforms.
constexpr bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}
constexpr bool is_letter(char c) {
  return static_cast<unsigned char>((c | 0x20) - 'a') < 26;
}
constexpr bool is_alphanumeric(char c) {
  return is_digit(c) || is_letter(c);
}
constexpr char lower(char c) {
  return is_letter(c) ? static_cast<char>(c | 0x20) : c;
}

inline std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

// Compares text case-insensitively.
inline bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// Removes blanks from both ends; HTTP and JSON use these four.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

// The eight bytes at a place, whatever its alignment.
inline std::uint64_t load_word(const void* place) {
  std::uint64_t word;
  std::memcpy(&word, place, sizeof word);
  return word;
}

// Whether all bytes are ASCII; text of eight or more is read in words, the last one overlapping.
inline bool is_ascii(std::string_view text) {
  std::uint64_t all = 0;
  if (text.size() < sizeof all) {
    for (const char c : text) all |= static_cast<unsigned char>(c);
    return (all & 0x80) == 0;
  }
  const char* const last = text.data() + text.size() - sizeof all;
  for (const char* at = text.data(); at < last; at += sizeof all) all |= load_word(at);
  all |= load_word(last);
  return (all & 0x8080808080808080) == 0;
}

// The value of a hexadecimal digit, or -1.
constexpr int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char letter = lower(c);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

// Arrow's string view: 16 bytes, short text inline, long text as a prefix and a place in a buffer.
struct TextView {
  static constexpr std::int32_t inline_capacity = 12;

  struct Place {
    char prefix[4];
    std::int32_t buffer;
    std::int32_t offset;
  };

  std::int32_t size = 0;
  union {
    char inlined[inline_capacity] = {};
    Place place;
  };

  bool is_inline() const { return size <= inline_capacity; }

  // The size and the first four bytes; then the rest of a short text, or the place of a long one.
  std::uint64_t first_word() const { return load_word(this); }
  std::uint64_t second_word() const { return load_word(inlined + 4); }

  // Writes short text in place: a copy of a view that was just made waits for all of its bytes.
  void hold(std::string_view text) {
    *this = TextView();
    size = static_cast<std::int32_t>(text.size());
    std::memcpy(inlined, text.data(), text.size());
  }

  static TextView make_inline(std::string_view text) {
    TextView view;
    view.hold(text);
    return view;
  }

  static TextView make_place(std::string_view text, std::int32_t buffer, std::int64_t offset) {
    TextView view;
    view.size = static_cast<std::int32_t>(text.size());
    std::memcpy(view.place.prefix, text.data(), sizeof view.place.prefix);
    view.place.buffer = buffer;
    view.place.offset = static_cast<std::int32_t>(offset);
    return view;
  }
};
static_assert(sizeof(TextView) == 16);

// A JSON string's content, found by scan_string.
struct StringScan {
  const char* end;  // at the closing quote; nullptr: malformed at `fault`
  const char* fault = nullptr;
  const char* reached = nullptr;  // the first byte that does not fit
  const char* problem = nullptr;
  bool escaped = false;
};

// Scans from after the opening quote, validating UTF-8 and escapes. The text must lie in a Buffer:
// up to 16 bytes after the string's end are read, and the padding's zeros stop the scan.
StringScan scan_string(const char* from);

// Writes the text between `from` and `to` unescaped; never longer than its source. A lone
// surrogate becomes U+FFFD and sets `damaged`.
std::int64_t unescape(const char* from, const char* to, char* out, bool& damaged);
std::string unescaped(const char* from, const char* to);

// The character at `text`: its length, 0 where it is malformed; and how many of its bytes fit, so
// that a character that was only cut short can be recognised.
struct Utf8Scan {
  int length;
  int fitting;
};
Utf8Scan scan_utf8(const char* text);

// Appends the text in quotes. Only what JSON cannot hold as it is becomes an escape.
void put_json_text(std::string& out, std::string_view text);

}  // namespace tradingdata
