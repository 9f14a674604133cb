// Applies one condition at a time to the rows that are left, with one loop for each type of
// column.
#include "table/row_filter.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/text/time.hpp"

namespace tradingdata {

namespace {

// Keeps the rows that meet the condition; `read` gives a row's value.
template <typename Value, typename Read>
void keep_rows(std::vector<std::int64_t>& rows, const Column& column, const Condition& condition,
               std::vector<Value> wanted, const Read& read) {
  const auto keep = [&](const auto& meets) {
    std::erase_if(rows, [&](std::int64_t row) { return !(column.valid(row) && meets(read(row))); });
  };
  switch (condition.relation) {
    case Relation::equal:
    case Relation::not_equal: {
      std::ranges::sort(wanted);
      const bool among = condition.relation == Relation::equal;
      const bool one = wanted.size() == 1;
      std::erase_if(rows, [&](std::int64_t row) {
        if (!column.valid(row)) return condition.null_wanted != among;
        const Value value = read(row);
        const bool found =
            one ? value == wanted.front() : std::ranges::binary_search(wanted, value);
        return found != among;
      });
      return;
    }
    case Relation::less: return keep([&](const Value& value) { return value < wanted.front(); });
    case Relation::less_equal:
      return keep([&](const Value& value) { return value <= wanted.front(); });
    case Relation::greater: return keep([&](const Value& value) { return value > wanted.front(); });
    case Relation::greater_equal:
      return keep([&](const Value& value) { return value >= wanted.front(); });
  }
}

template <typename Stored>
auto stored(const Column& column) {
  return [values = column.as<Stored>()](std::int64_t row) { return values[row]; };
}

void keep_integers(std::vector<std::int64_t>& rows, const Column& column, Kind kind,
                   const Condition& condition) {
  const auto& wanted = std::get<std::vector<std::int64_t>>(condition.wanted);
  const auto keep = [&](const auto& read) { keep_rows(rows, column, condition, wanted, read); };
  if (kind == Kind::date) {
    return keep([read = stored<std::int32_t>(column)](std::int64_t row) -> std::int64_t {
      return read(row);
    });
  }
  const auto read = stored<std::int64_t>(column);
  switch (condition.part) {
    case TimePart::all: return keep(read);
    case TimePart::day:
      return keep([&](std::int64_t row) -> std::int64_t { return day_of(read(row)); });
    case TimePart::clock:
      return keep([&](std::int64_t row) { return read(row) - day_of(read(row)) * micros_per_day; });
  }
}

void keep_texts(std::vector<std::int64_t>& rows, const Table& table, const Condition& condition) {
  const auto& wanted = std::get<std::vector<std::string>>(condition.wanted);
  keep_rows(rows, table.column(condition.field), condition,
            std::vector<std::string_view>(wanted.begin(), wanted.end()),
            [&](std::int64_t row) { return table.text(condition.field, row); });
}

}  // namespace

std::vector<std::int64_t> rows_where(const Table& table, std::int64_t start, std::int64_t stop,
                                     std::span<const Condition> conditions) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(stop - start));
  std::iota(rows.begin(), rows.end(), start);
  for (const Condition& condition : conditions) {
    const Column& column = table.column(condition.field);
    const Kind kind = table.schema().field(condition.field).kind;
    switch (kind) {
      case Kind::text: keep_texts(rows, table, condition); break;
      case Kind::number:
        keep_rows(rows, column, condition, std::get<std::vector<double>>(condition.wanted),
                  stored<double>(column));
        break;
      default: keep_integers(rows, column, kind, condition);
    }
  }
  return rows;
}

}  // namespace tradingdata
