// Compares pages by complete content, and by company: its code, or its names where the service
// gives no code.
#include "client/seen_rows.hpp"

#include <optional>
#include <utility>

namespace tradingdata {

bool SeenRows::contains_all(const PageContent& page) const {
  for (std::int64_t row = 0; row < page.size(); ++row) {
    if (!contains(page, row)) return false;
  }
  return true;
}

bool SeenRows::contains_company(const PageContent& page, std::int64_t row) const {
  const std::optional<std::int64_t> code = page.code(row);
  return code ? codes_.contains(*code) : names_.contains(page.name(row));
}

bool SeenRows::repeats_first_page(const PageContent& page) const {
  const PageContent& first = first_page();
  if (page.size() < first.size()) return false;
  if (contains_all(page)) return true;
  if (page.size() > first.size()) return false;
  bool several = false;
  for (std::int64_t row = 0; row < page.size(); ++row) {
    if (!page.same_company(row, first, row)) return false;
    several = several || !page.same_company(row, page, 0);
  }
  return several;
}

void SeenRows::add(PageContent page) {
  const PageContent& kept = pages_.emplace_back(std::move(page));
  for (std::int64_t row = 0; row < kept.size(); ++row) {
    contents_.insert(kept.content(row));
    if (const auto code = kept.code(row)) {
      codes_.insert(*code);
    } else {
      names_.insert(kept.name(row));
    }
  }
}

}  // namespace tradingdata
