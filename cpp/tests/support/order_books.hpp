// Books of orders for the tests of their diff, and what a diff says in short.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "decode/decode.hpp"
#include "table/diff.hpp"
#include "table/records.hpp"

namespace order_books {

using namespace tradingdata;

inline const std::vector<std::string> usual{"row_no", "ref_ltp"};

// The members of one order each, without its braces.
inline TablePtr orders(const std::vector<std::string>& members, bool keep_personal_data = false) {
  std::string body = R"({"status": "success", "message": "", "data": [)";
  for (std::size_t i = 0; i < members.size(); ++i) body += (i == 0 ? "{" : ",{") + members[i] + "}";
  return decode_book(order_schema, Buffer(body + "]}"), {.keep_personal_data = keep_personal_data});
}

inline Slice all(const TablePtr& table) {
  return {table.get(), 0, table->rows()};
}

inline OrderDiff between(const TablePtr& previous, const TablePtr& now,
                         const std::vector<std::string>& ignore = usual) {
  return diff_orders(all(now), all(previous), ignore);
}

// "new 2", "changed 0<-1 status price", "gone 3".
inline std::string described(const OrderChange& change) {
  std::string text(name_of(change.kind));
  text += ' ' + std::to_string(change.row >= 0 ? change.row : change.previous);
  if (change.kind == ChangeKind::changed) text += "<-" + std::to_string(change.previous);
  for (const std::string_view field : change.fields) text += ' ' + std::string(field);
  return text;
}

inline std::vector<std::string> described(const OrderDiff& diff) {
  std::vector<std::string> lines;
  for (const OrderChange& change : diff.changes) lines.push_back(described(change));
  return lines;
}

using Lines = std::vector<std::string>;

inline std::string order(const std::string& number, const std::string& more) {
  return R"("exchange": "NSE", "segment": "E", "leg_no": 1, "order_no": ")" + number + "\"" + more;
}

}  // namespace order_books
