// Builds the sorted categories of a column.
#include "table/dictionary.hpp"

#include <cstring>
#include <map>

namespace tradingdata {

// An ordered map: values come out sorted, and no choice of texts makes it slow.
Categories categories_of(const Table& table, int field, std::int64_t start, std::int64_t length) {
  std::map<std::string_view, std::int32_t> code_of;
  std::vector<const std::int32_t*> by_row(static_cast<std::size_t>(length));  // null: no value
  const auto* const views = table.column(field).as<TextView>() + start;
  for (std::size_t row = 0; row < by_row.size(); ++row) {
    if (!table.valid(field, start + static_cast<std::int64_t>(row))) continue;
    // Equal views are equal text, and repeats are common.
    const bool repeats = row > 0 && by_row[row - 1] != nullptr &&
                         std::memcmp(views + row, views + row - 1, sizeof *views) == 0;
    by_row[row] =
        repeats ? by_row[row - 1] : &code_of.try_emplace(table.text(views[row])).first->second;
  }
  Categories categories;
  categories.values.reserve(code_of.size());
  for (auto& [text, code] : code_of) {
    code = static_cast<std::int32_t>(categories.values.size());
    categories.values.push_back(text);
  }
  categories.codes.reserve(by_row.size());
  for (const std::int32_t* const code : by_row) {
    categories.codes.push_back(code != nullptr ? *code : -1);
  }
  return categories;
}

}  // namespace tradingdata
