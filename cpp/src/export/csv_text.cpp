#include "export/csv_text.hpp"

#include <algorithm>
#include <array>

#include "base/number.hpp"

namespace tradingdata::detail {

namespace {

// Programs also take the full-width forms for their signs, and skip a tab or a line end before one.
constexpr std::array<std::string_view, 11> formula_starts{
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "\xEF\xBC\x9D",
    "\xEF\xBC\x8B",
    "\xEF\xBC\x8D",
    "\xEF\xBC\xA0",
};

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at;
}

bool is_changed_number(std::string_view text) {
  constexpr std::size_t kept_digits = 14;
  const std::size_t whole = digits_at(text, 0);
  if (whole == 0) return false;
  std::size_t at = whole;
  std::size_t digits = whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = digits_at(text, at + 1);
    digits += fraction;
    at += 1 + fraction;
  }
  bool exponent = false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    exponent = true;
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const std::size_t power = digits_at(text, at);
    if (power == 0) return false;
    at += power;
  }
  if (at != text.size()) return false;
  const bool leading_zero = whole > 1 && text.front() == '0';
  return exponent || leading_zero || digits > kept_digits;
}

}  // namespace

bool spreadsheet_changes(std::string_view text) {
  const bool formula = std::any_of(formula_starts.begin(), formula_starts.end(),
                                   [&](std::string_view start) { return text.starts_with(start); });
  return formula || is_changed_number(text);
}

void put_csv_text(std::string& out, std::string_view text, bool spreadsheet) {
  const bool apostrophe = spreadsheet && spreadsheet_changes(text);
  const bool quoted = text.empty() || text.find_first_of(",\"\r\n") != std::string_view::npos;
  if (quoted) out += '"';
  if (apostrophe) out += '\'';
  if (!quoted) {
    out += text;
    return;
  }
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace tradingdata::detail
