// Writes rows as CSV text. Numbers have the fewest digits that give the same value again.
#include "export/csv.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/text/time.hpp"
#include "export/csv_text.hpp"

namespace tradingdata {

namespace {

void put_integer(std::string& out, std::int64_t value) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
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

void put_cell(std::string& out, const Table& table, int field, std::int64_t row,
              const CsvOptions& options) {
  const Column& column = table.column(field);
  if (!column.valid(row)) return;
  switch (table.schema().field(field).kind) {
    case Kind::text: return detail::put_csv_text(out, table.text(field, row), options.spreadsheet);
    case Kind::integer: return put_integer(out, column.as<std::int64_t>()[row]);
    case Kind::number: return put_number(out, column.as<double>()[row]);
    case Kind::timestamp: {
      const std::int64_t micros = column.as<std::int64_t>()[row];
      out += format_timestamp(micros);
      if (options.offset) out += format_offset(options.offset(micros));
      return;
    }
    case Kind::date: out += format_date(column.as<std::int32_t>()[row]); return;
  }
}

void put_extra(std::string& out, const Table& table, int name, std::int64_t row,
               const CsvOptions& options) {
  for (const Extra& extra : table.extras_of(row)) {
    if (extra.name != name) continue;
    return detail::put_csv_text(out, table.extra_json(extra), options.spreadsheet);
  }
}

}  // namespace

std::string rows_as_csv(const Table& table, const CsvOptions& options) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  const std::string_view line_end = options.spreadsheet ? "\r\n" : "\n";
  const int width = table.schema().width();
  std::string out(options.spreadsheet ? byte_order_mark : "");
  const auto put_line = [&](const auto& put) {
    for (std::size_t i = 0; i < options.columns.size(); ++i) {
      if (i > 0) out += ',';
      put(options.columns[i]);
    }
    out += line_end;
  };
  put_line([&](int column) {
    detail::put_csv_text(out, table.column_name(column), options.spreadsheet);
  });
  for (std::int64_t row = options.start; row < options.start + options.length; ++row) {
    const std::size_t begin = out.size();
    put_line([&](int column) {
      if (column < width) {
        put_cell(out, table, column, row, options);
      } else {
        put_extra(out, table, column - width, row, options);
      }
    });
    // Readers skip blank lines, and the row would be lost.
    if (out.size() == begin + line_end.size()) out.insert(begin, "\"\"");
  }
  return out;
}

}  // namespace tradingdata
