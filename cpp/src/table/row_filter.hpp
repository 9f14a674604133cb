// Chooses the rows of a table whose values meet conditions, column by column.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "table/table.hpp"

namespace tradingdata {

enum class Relation { equal, not_equal, less, less_equal, greater, greater_equal };

// What of a timestamp is compared: all of it, its day, or its time of day.
enum class TimePart { all, day, clock };

// One condition on one field. A missing value meets none but `equal` and `not_equal`.
struct Condition {
  int field;
  Relation relation = Relation::equal;
  TimePart part = TimePart::all;
  // Any of these for `equal`, none of them for `not_equal`, exactly one for an order. Integers are
  // those of the column: a timestamp's microseconds (also of its time of day), a date's days.
  std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>> wanted{};
  bool null_wanted = false;  // whether a missing value is among the wanted ones
};

// The rows from `start` on, before `stop`, that meet every condition, in order.
std::vector<std::int64_t> rows_where(const Table& table, std::int64_t start, std::int64_t stop,
                                     std::span<const Condition> conditions);

}  // namespace tradingdata
