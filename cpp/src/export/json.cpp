#include "export/json.hpp"

#include <charconv>

#include "base/time.hpp"

namespace tradingdata {

namespace {

void put_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      constexpr char hex[] = "0123456789abcdef";
      out += "\\u00";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

template <typename Value>
std::string shortest(Value value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  return {digits, end};
}

std::string as_number(double value) {
  std::string digits = shortest(value);
  // The decoder takes a bare integer of this size for an identifier that would round.
  constexpr double exact_integer = 9007199254740992;
  const bool bare = digits.find_first_of(".e") == std::string::npos;
  if (bare && (value > exact_integer || value < -exact_integer)) digits += ".0";
  return digits;
}

void put_cell(std::string& out, const Table& table, int field, std::int64_t row) {
  const Column& column = table.column(field);
  if (!column.valid(row)) {
    out += "null";
    return;
  }
  switch (table.schema().fields[static_cast<std::size_t>(field)].kind) {
    case Kind::text: return put_text(out, table.text(field, row));
    case Kind::integer: out += shortest(column.as<std::int64_t>()[row]); return;
    case Kind::number: out += as_number(column.as<double>()[row]); return;
    case Kind::timestamp: return put_text(out, format_timestamp(column.as<std::int64_t>()[row]));
    case Kind::date: return put_text(out, format_date(column.as<std::int32_t>()[row]));
  }
}

void put_row(std::string& out, const Table& table, std::int64_t row) {
  char separator = '{';
  const auto put_key = [&](std::string_view name) {
    out += separator;
    separator = ',';
    put_text(out, name);
    out += ':';
  };
  for (int field = 0; field < table.schema().width(); ++field) {
    put_key(table.schema().fields[static_cast<std::size_t>(field)].name);
    put_cell(out, table, field, row);
  }
  const auto [begin, end] = table.extras_of(row);
  for (std::int64_t i = begin; i < end; ++i) {
    const Extra& extra = table.extras[static_cast<std::size_t>(i)];
    put_key(table.extra_names[static_cast<std::size_t>(extra.name)]);
    out += table.extra_json(extra);
  }
  out += '}';
}

}  // namespace

std::string row_as_json(const Table& table, std::int64_t row) {
  std::string out;
  put_row(out, table, row);
  return out;
}

std::string rows_as_json(const Table& table, std::int64_t start, std::int64_t stop) {
  std::string out = "[";
  for (std::int64_t row = start; row < stop; ++row) {
    if (row > start) out += ',';
    put_row(out, table, row);
  }
  return out + "]";
}

}  // namespace tradingdata
