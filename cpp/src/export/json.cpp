// Writes rows as JSON. Text in the service's form decodes to an equal table.
#include "export/json.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "table/rows.hpp"

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

// What is written of each row.
struct Content {
  std::vector<int> fields{};           // positions, in the order of the keys
  bool extras = false;                 // whether a row's unknown fields follow, as sent
  bool lines = false;                  // whether each row is one line
  bool restorable = false;             // local fields have a prefix, as the decoder reads them back
  const ZoneOffset* offset = nullptr;  // a copy of one that calls Python would need the GIL
};

struct JsonCell {
  std::string& out;
  const Content& content;

  void operator()(std::string_view text) const { put_json_text(out, text); }
  void operator()(std::int64_t value) const { out += digits_of(value); }
  void operator()(double value) const { out += as_number(value); }
  void operator()(Moment time) const {
    const std::string text = content.offset != nullptr
                                 ? format_timestamp(time.micros, *content.offset)
                                 : format_timestamp(time.micros);
    put_json_text(out, text);
  }
  void operator()(Day day) const { put_json_text(out, format_date(day.days)); }
};

bool is_field(const Table& table, const Extra& extra, const Content& content) {
  const int field = table.schema().find(table.extra_name(extra));
  return field >= 0 && std::ranges::find(content.fields, field) != content.fields.end();
}

void put_row(std::string& out, const Table& table, std::int64_t row, const Content& content) {
  const std::size_t begin = out.size();
  out += '{';
  bool first = true;
  const auto put_key = [&](std::string_view name) {
    if (!first) out += ',';
    first = false;
    put_json_text(out, name);
    out += ':';
  };
  for (const int field : content.fields) {
    const Field& declared = table.schema().field(field);
    if (content.restorable && declared.local()) {
      if (!table.valid(field, row)) continue;
      put_key(std::string(local_prefix).append(declared.name));
    } else {
      put_key(declared.name);
    }
    if (table.valid(field, row)) {
      visit_cell(table, field, row, JsonCell{out, content});
    } else {
      out += "null";
    }
  }
  if (content.extras) {
    for (const Extra& extra : table.extras_of(row)) {
      // An object has a name once: that of the local field.
      if (!content.restorable && is_field(table, extra, content)) continue;
      put_key(table.extra_name(extra));
      out += table.extra_json(extra);
    }
  }
  out += '}';
  if (!content.lines) return;
  // Unknown fields as sent may have line breaks: between values, since those in text are escaped.
  for (const char line_break : {'\n', '\r'}) {
    std::replace(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), line_break, ' ');
  }
}

// The first fields of a row, and its unknown ones.
Content everything(int fields) {
  Content content{.extras = true, .restorable = true};
  content.fields.resize(static_cast<std::size_t>(fields));
  std::iota(content.fields.begin(), content.fields.end(), 0);
  return content;
}

}  // namespace

std::string row_as_json(const Table& table, std::int64_t row) {
  std::string out;
  put_row(out, table, row, everything(table.schema().sent()));
  return out;
}

std::string rows_as_json(const Slice& rows) {
  const Content content = everything(rows.table->schema().width());
  std::string out = "[";
  for (std::int64_t row = rows.start; row < rows.stop; ++row) {
    if (row > rows.start) out += ',';
    put_row(out, *rows.table, row, content);
  }
  return out + "]";
}

std::string export_json(const Rows& rows, bool extras, bool lines) {
  if (rows.size() == 0) return lines ? "" : "[]\n";
  const Content content{
      .fields = rows.columns, .extras = extras, .lines = lines, .offset = &rows.offset};
  std::string out = lines ? "" : "[\n";
  for (std::int64_t row = rows.start; row < rows.stop; ++row) {
    if (row > rows.start) out += lines ? "\n" : ",\n";
    put_row(out, *rows.table, row, content);
  }
  return out += lines ? "\n" : "\n]\n";
}

TablePtr with_extra_column(const Slice& rows, const Schema& wider) {
  const std::vector<std::int64_t> all = rows_of(rows);
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
