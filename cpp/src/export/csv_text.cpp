// Finds text that a spreadsheet would change when it opens the file (formulas, dates, long
// numbers), so that it can be protected.
#include "export/csv_text.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/text/ascii.hpp"

namespace tradingdata::detail {

namespace {

// Programs also take the full-width forms for their signs, and skip a tab or a line end before one.
// Text such as #N/A is read as an error value.
constexpr std::array<std::string_view, 12> formula_starts{
    "#",
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

// Letters that a number, date or time may have: a month, and behind digits also an exponent, half
// of a day, or the T and Z of ISO 8601.
bool is_numeric_word(std::string_view word, bool behind_digits) {
  constexpr std::array<std::string_view, 13> months{
      "JANUARY", "FEBRUARY", "MARCH",     "APRIL",   "MAY",      "JUNE",    "JULY",
      "AUGUST",  "SEPT",     "SEPTEMBER", "OCTOBER", "NOVEMBER", "DECEMBER"};
  constexpr std::array<std::string_view, 6> marks{"A", "AM", "P", "PM", "T", "Z"};
  const auto begins = [&](std::string_view month) {
    return same_ignoring_case(month.substr(0, word.size()), word);
  };
  const auto is = [&](std::string_view mark) { return same_ignoring_case(mark, word); };
  if (word.size() >= 3) return std::any_of(months.begin(), months.end(), begins);
  return behind_digits && std::any_of(marks.begin(), marks.end(), is);
}

// Whether all of the text could be a number, a date, a time, a fraction, a percentage or an amount
// of money, in some spelling that programs take for one.
bool looks_numeric(std::string_view text) {
  constexpr std::string_view marks = " .,:/-+%()'$\xC2\xA3\xA0\xA5\xE2\x82\xAC\xB9";
  bool digits = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end > at) {
      const std::string_view word = text.substr(at, end - at);
      const bool exponent = (word == "E" || word == "e") && digits && text[at - 1] != ' ' &&
                            end < text.size() && text[end] != ' ';
      if (!exponent && !is_numeric_word(word, digits)) return false;
      at = end;
      continue;
    }
    digits = digits || is_digit(text[at]);
    if (!is_digit(text[at]) && marks.find(text[at]) == std::string_view::npos) return false;
    ++at;
  }
  return digits;
}

// Whether the text is a number that is read and shown as it is: no leading zero, no trailing zero
// of a fraction, and no more digits than a double keeps.
bool is_kept_number(std::string_view text) {
  constexpr std::size_t kept_digits = 14;
  const std::size_t whole = std::min(text.find_first_not_of("0123456789"), text.size());
  if (whole == 0 || (whole > 1 && text.front() == '0')) return false;
  const std::string_view rest = text.substr(whole);
  const bool fraction = rest.size() > 1 && rest.front() == '.' && rest.back() != '0' &&
                        rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return (rest.empty() || fraction) && whole + rest.size() <= kept_digits + (fraction ? 1 : 0);
}

}  // namespace

bool spreadsheet_changes(std::string_view text) {
  const bool formula = std::any_of(formula_starts.begin(), formula_starts.end(),
                                   [&](std::string_view start) { return text.starts_with(start); });
  return formula || same_ignoring_case(text, "TRUE") || same_ignoring_case(text, "FALSE") ||
         (looks_numeric(text) && !is_kept_number(text));
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
