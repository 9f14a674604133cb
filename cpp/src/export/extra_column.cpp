// Writes the unknown fields of a row behind one another, as they were sent.
#include "export/extra_column.hpp"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/text/json_text.hpp"
#include "table/table_builder.hpp"

namespace tradingdata {

TablePtr with_extra_column(const Slice& rows) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(rows.stop - rows.start));
  std::iota(all.begin(), all.end(), rows.start);
  TableBuilder made = copy_of(*rows.table, all);
  const std::int32_t name = made.extra_name("extra");
  std::vector<Extra> objects;
  std::string json;
  for (std::int64_t row = rows.start; row < rows.stop; ++row) {
    const auto extras = rows.table->extras_of(row);
    if (extras.empty()) continue;
    json = '{';
    for (const Extra& extra : extras) {
      if (json.size() > 1) json += ',';
      put_json_text(json, rows.table->extra_name(extra));
      json += ':';
      json += rows.table->extra_json(extra);
    }
    json += '}';
    const auto [buffer, offset] = made.keep_bytes(json);
    objects.push_back({.row = row - rows.start,
                       .name = name,
                       .buffer = buffer,
                       .offset = offset,
                       .size = static_cast<std::int32_t>(json.size())});
  }
  made.extras() = std::move(objects);
  return std::move(made).build();
}

}  // namespace tradingdata
