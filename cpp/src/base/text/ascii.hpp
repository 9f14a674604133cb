// Classes of ASCII characters, whatever the locale: <cctype> depends on it, and refuses bytes above
// 127 on some platforms.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace tradingdata {

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
constexpr char upper(char c) {
  return is_letter(c) ? static_cast<char>(c & ~0x20) : c;
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
  const auto is_blank = [blanks](char c) {
    for (const char blank : blanks) {
      if (c == blank) return true;
    }
    return false;
  };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The value of a hexadecimal digit, or -1.
constexpr int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char letter = lower(c);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

}  // namespace tradingdata
