// Text: how a column holds it, how a JSON string is scanned, validated and unescaped.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tradingdata {

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

  static TextView make_inline(std::string_view text) {
    TextView view;
    view.size = static_cast<std::int32_t>(text.size());
    std::memcpy(view.inlined, text.data(), text.size());
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

}  // namespace tradingdata
