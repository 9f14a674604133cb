// Writes the content of a page as bytes, because rows of different tables can be compared only by
// content.
#include "client/page_fingerprint.hpp"

#include "table/records.hpp"
#include "table/row_selection.hpp"
#include "table/row_values.hpp"

namespace tradingdata {

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
    append_row(bytes, stocks, row);
    std::optional<std::int64_t> code;
    name.clear();
    if (stocks.valid(code_field, row)) {
      code = stocks.column(code_field).as<std::int64_t>()[row];
    } else {
      for (const int field : name_fields) detail::append_value(name, stocks, field, row);
    }
    content.add(code, bytes, name);
  }
  return content;
}

}  // namespace tradingdata
