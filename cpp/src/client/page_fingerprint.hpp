// The rows of one page as the pager compares them: by company code, and by their complete content.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "table/table.hpp"

namespace tradingdata {

class PageContent {
 public:
  // `name` distinguishes companies that have no code.
  void add(std::optional<std::int64_t> code, std::string_view content, std::string_view name = {});

  std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
  std::optional<std::int64_t> code(std::int64_t row) const { return at(row).code; }
  // Two rows are identical where these bytes are; they live as long as this object stays put.
  std::string_view content(std::int64_t row) const {
    return std::string_view(bytes_).substr(at(row).begin, at(row).size);
  }
  std::string_view name(std::int64_t row) const {
    return std::string_view(bytes_).substr(at(row).begin + at(row).size, at(row).name_size);
  }
  bool same_company(std::int64_t row, const PageContent& other, std::int64_t other_row) const {
    if (code(row) != other.code(other_row)) return false;
    return code(row) || name(row) == other.name(other_row);
  }

 private:
  struct Row {
    std::optional<std::int64_t> code;
    std::size_t begin;
    std::size_t size;
    std::size_t name_size;  // the name follows the content
  };

  const Row& at(std::int64_t row) const { return rows_[static_cast<std::size_t>(row)]; }

  std::vector<Row> rows_;
  std::string bytes_;
};

// Of a table of stocks: every value as decoded, and the unknown fields as sent, in the order of
// their names. `code` is co_code; the name consists of the other fields that identify a company.
PageContent page_content(const Table& stocks);

}  // namespace tradingdata
