#include "client/page_fingerprint.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "table/records.hpp"

namespace tradingdata {

namespace {

void append_text(std::string& bytes, std::string_view text) {
  const std::uint64_t size = text.size();  // first, so that neighbours cannot run together
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes.append(text);
}

void append_value(std::string& bytes, const Table& table, int field, std::int64_t row) {
  const bool valid = table.valid(field, row);
  bytes += valid ? '\1' : '\0';
  if (!valid) return;
  const Kind kind = table.schema().fields[static_cast<std::size_t>(field)].kind;
  if (kind == Kind::text) return append_text(bytes, table.text(field, row));
  const std::int64_t width = width_of(kind);
  const auto* value = reinterpret_cast<const char*>(table.column(field).values + row * width);
  bytes.append(value, static_cast<std::size_t>(width));
}

void append_extras(std::string& bytes, const Table& table, std::int64_t row) {
  const auto [first, last] = table.extras_of(row);
  std::vector<std::pair<std::string_view, std::string_view>> extras;
  for (std::int64_t i = first; i < last; ++i) {
    const Extra& extra = table.extras[static_cast<std::size_t>(i)];
    extras.emplace_back(table.extra_names[static_cast<std::size_t>(extra.name)],
                        table.extra_json(extra));
  }
  std::sort(extras.begin(), extras.end());
  for (const auto& [name, json] : extras) {
    append_text(bytes, name);
    append_text(bytes, json);
  }
}

}  // namespace

void PageContent::add(std::optional<std::int64_t> code, std::string_view content,
                      std::string_view name) {
  rows_.push_back({code, bytes_.size(), content.size(), name.size()});
  bytes_.append(content).append(name);
}

PageContent page_content(const Table& stocks) {
  constexpr int code_field = stock_schema["co_code"];
  constexpr int name_fields[] = {stock_schema["isin"], stock_schema["nsesymbol"],
                                 stock_schema["bsecode"], stock_schema["companyname"]};
  PageContent content;
  std::string bytes;
  std::string name;
  for (std::int64_t row = 0; row < stocks.rows(); ++row) {
    bytes.clear();
    for (int field = 0; field < stocks.schema().width(); ++field) {
      append_value(bytes, stocks, field, row);
    }
    append_extras(bytes, stocks, row);
    std::optional<std::int64_t> code;
    name.clear();
    if (stocks.valid(code_field, row)) {
      code = stocks.column(code_field).as<std::int64_t>()[row];
    } else {
      for (const int field : name_fields) append_value(name, stocks, field, row);
    }
    content.add(code, bytes, name);
  }
  return content;
}

}  // namespace tradingdata
