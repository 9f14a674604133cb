// Writes rows as JSON. Text in the service's form decodes to an equal table.
#include "export/json.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/time.hpp"

namespace tradingdata {

namespace {

std::string as_number(double value) {
  std::string digits = digits_of(value);
  // The decoder takes a bare integer of this size for an identifier that would round.
  constexpr double exact_integer = 9007199254740992;
  const bool bare = digits.find_first_of(".e") == std::string::npos;
  if (bare && (value > exact_integer || value < -exact_integer)) digits += ".0";
  return digits;
}

struct JsonCell {
  std::string& out;
  const JsonOptions& options;

  void operator()(std::string_view text) const { put_json_text(out, text); }
  void operator()(std::int64_t value) const { out += digits_of(value); }
  void operator()(double value) const { out += as_number(value); }
  void operator()(Moment time) const {
    put_json_text(out, format_timestamp(time.micros, options.offset));
  }
  void operator()(Day day) const { put_json_text(out, format_date(day.days)); }
};

bool is_field(const Table& table, const Extra& extra, const JsonOptions& options) {
  const int field = table.schema().find(table.extra_name(extra));
  return field >= 0 && std::ranges::find(options.fields, field) != options.fields.end();
}

void put_row(std::string& out, const Table& table, std::int64_t row, const JsonOptions& options) {
  const std::size_t begin = out.size();
  out += '{';
  bool first = true;
  const auto put_key = [&](std::string_view name) {
    if (!first) out += ',';
    first = false;
    put_json_text(out, name);
    out += ':';
  };
  for (const int field : options.fields) {
    const Field& declared = table.schema().field(field);
    if (options.restorable && declared.local()) {
      if (!table.valid(field, row)) continue;
      put_key(std::string(local_prefix).append(declared.name));
    } else {
      put_key(declared.name);
    }
    if (table.valid(field, row)) {
      visit_cell(table, field, row, JsonCell{out, options});
    } else {
      out += "null";
    }
  }
  if (options.extras) {
    for (const Extra& extra : table.extras_of(row)) {
      // An object has a name once: that of the local field.
      if (!options.restorable && is_field(table, extra, options)) continue;
      put_key(table.extra_name(extra));
      out += table.extra_json(extra);
    }
  }
  out += '}';
  if (!options.lines) return;
  // Unknown fields as sent may have line breaks: between values, since those in text are escaped.
  for (const char line_break : {'\n', '\r'}) {
    std::replace(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), line_break, ' ');
  }
}

// The first fields of a row, and its unknown ones.
JsonOptions everything(int fields) {
  JsonOptions options{.extras = true, .restorable = true};
  options.fields.resize(static_cast<std::size_t>(fields));
  std::iota(options.fields.begin(), options.fields.end(), 0);
  return options;
}

}  // namespace

std::string row_as_json(const Table& table, std::int64_t row) {
  std::string out;
  put_row(out, table, row, everything(table.schema().sent()));
  return out;
}

std::string rows_as_json(const Table& table, std::int64_t start, std::int64_t stop) {
  const JsonOptions options = everything(table.schema().width());
  std::string out = "[";
  for (std::int64_t row = start; row < stop; ++row) {
    if (row > start) out += ',';
    put_row(out, table, row, options);
  }
  return out + "]";
}

std::string export_json(const Table& table, const JsonOptions& options) {
  if (options.length == 0) return options.lines ? "" : "[]\n";
  std::string out = options.lines ? "" : "[\n";
  const std::string_view separator = options.lines ? "\n" : ",\n";
  for (std::int64_t i = 0; i < options.length; ++i) {
    if (i > 0) out += separator;
    put_row(out, table, options.start + i, options);
  }
  return out += options.lines ? "\n" : "\n]\n";
}

TablePtr with_extra_column(const Slice& rows, const Schema& wider) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(rows.stop - rows.start));
  std::iota(all.begin(), all.end(), rows.start);
  TableBuilder made = copy_of(*rows.table, all, wider);
  made.extras().clear();
  const int field = wider.width() - 1;
  for (const std::int64_t row : all) {
    if (rows.table->extras_of(row).empty()) {
      made.set_null(field, row - rows.start);
      continue;
    }
    std::string json;
    put_row(json, *rows.table, row, {.extras = true});
    made.cells<TextView>(field)[row - rows.start] = made.keep_text(json);
  }
  return std::move(made).build();
}

}  // namespace tradingdata
