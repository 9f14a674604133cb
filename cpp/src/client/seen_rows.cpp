// Writes the content of a page as bytes, and compares pages by them.
#include "client/seen_rows.hpp"

#include <utility>

#include "table/records.hpp"
#include "table/row_selection.hpp"
#include "table/row_values.hpp"

namespace tradingdata {

void PageContent::add(bool has_code, std::string_view identity, std::string_view content) {
  rows_.push_back({has_code, bytes_.size(), identity.size(), content.size()});
  bytes_.append(identity).append(content);
}

PageContent page_content(const Table& stocks) {
  PageContent page;
  std::string identity;
  std::string content;
  for (std::int64_t row = 0; row < stocks.rows(); ++row) {
    identity.clear();
    content.clear();
    append_row(content, stocks, row);
    for (int field = 0; field < stocks.schema().width(); ++field) {
      if (stocks.schema().field(field).kind == Kind::number) continue;  // as market capitalization
      detail::append_value(identity, stocks, field, row);
    }
    for (const auto& [name, json] : detail::sorted_extras(stocks, row)) {
      if (json.starts_with('"')) identity.append(name).append(json);
    }
    page.add(stocks.valid(stock_schema["co_code"], row), identity, content);
  }
  return page;
}

bool SeenRows::contains_all(const PageContent& page) const {
  for (std::int64_t row = 0; row < page.size(); ++row) {
    if (!identities_.contains(page.identity(row))) return false;
  }
  return true;
}

void SeenRows::add(PageContent page) {
  const PageContent& kept = pages_.emplace_back(std::move(page));
  for (std::int64_t row = 0; row < kept.size(); ++row) {
    contents_.insert(kept.content(row));
    identities_.insert(kept.identity(row));
  }
}

}  // namespace tradingdata
