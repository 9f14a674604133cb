// Writes rows as CSV text. Numbers have the fewest digits that give the same value again.
#include "export/csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/time.hpp"

namespace tradingdata {

namespace {

// Programs also take the full-width forms for their signs, and skip a tab or a line end before one.
// Text such as #N/A is read as an error value.
constexpr std::string_view formula_signs = "#=+-@\t\r\n";
constexpr std::array<std::string_view, 4> wide_signs{"\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D",
                                                     "\xEF\xBC\xA0"};

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

// Whether a spreadsheet would run the text as a formula, or take it for a value and change it:
// 5/10, 1-2 and MAR1 for dates, TRUE, 1E5, and identifiers with leading zeros or 15 and more
// digits.
bool spreadsheet_changes(std::string_view text) {
  const auto begins = [&](std::string_view sign) { return text.starts_with(sign); };
  const bool formula =
      std::ranges::any_of(wide_signs, begins) ||
      (!text.empty() && formula_signs.find(text.front()) != std::string_view::npos);
  return formula || same_ignoring_case(text, "TRUE") || same_ignoring_case(text, "FALSE") ||
         (looks_numeric(text) && !is_kept_number(text));
}

// The text as one cell; quoted where it is empty, since an empty cell is a missing value.
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

// With a point or an exponent, so that a column of numbers does not look like one of integers.
void put_number(std::string& out, double value) {
  constexpr double fixed_from = 1e-4;
  constexpr double fixed_below = 1e16;
  const double size = std::abs(value);
  const bool fixed = size == 0 || (size >= fixed_from && size < fixed_below);
  char digits[40];
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, format);
  const std::string_view text(digits, static_cast<std::size_t>(end - digits));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

struct CsvCell {
  std::string& out;
  bool spreadsheet;
  const ZoneOffset& offset;

  void operator()(std::string_view text) const { put_csv_text(out, text, spreadsheet); }
  void operator()(std::int64_t value) const { out += digits_of(value); }
  void operator()(double value) const { put_number(out, value); }
  void operator()(Moment time) const { out += format_timestamp(time.micros, offset); }
  void operator()(Day day) const { out += format_date(day.days); }
};

}  // namespace

std::string rows_as_csv(const Rows& rows, bool spreadsheet) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  const std::string_view line_end = spreadsheet ? "\r\n" : "\n";
  const Table& table = *rows.table;
  std::string out(spreadsheet ? byte_order_mark : "");
  const CsvCell put{out, spreadsheet, rows.offset};
  const auto put_line = [&](const auto& put_cell) {
    for (std::size_t i = 0; i < rows.columns.size(); ++i) {
      if (i > 0) out += ',';
      put_cell(rows.columns[i]);
    }
    out += line_end;
  };
  put_line([&](int column) { put(table.schema().field(column).name); });
  for (std::int64_t row = rows.start; row < rows.stop; ++row) {
    const std::size_t begin = out.size();
    put_line([&](int column) {
      if (table.valid(column, row)) visit_cell(table, column, row, put);
    });
    // Readers skip blank lines, and the row would be lost.
    if (out.size() == begin + line_end.size()) out.insert(begin, "\"\"");
  }
  return out;
}

}  // namespace tradingdata
