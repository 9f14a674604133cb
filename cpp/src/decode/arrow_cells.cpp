// Numbers and times are read as they lie in memory; text is read by the decoder's own rules.
#include "decode/arrow_cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/number.hpp"
#include "base/simd.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "decode/arrow_extras.hpp"
#include "decode/text_values.hpp"
#include "privacy/personal.hpp"
#include "privacy/shown.hpp"

namespace tradingdata::detail {

namespace {

constexpr std::int32_t first_day = zero_date;
constexpr std::int32_t last_day =
    days_since_epoch({std::chrono::year(9999), std::chrono::December, std::chrono::day(31)});

bool takes(Kind kind, const WireType& type) {
  if (type.wire == Wire::null || type.is_text()) return true;
  const bool numeric = type.is_integer() || type.is_float() || type.wire == Wire::decimal;
  switch (kind) {
    case Kind::text: return numeric || type.wire == Wire::boolean;
    case Kind::integer:
    case Kind::number: return numeric;
    case Kind::timestamp: return type.wire == Wire::timestamp || type.is_float();
    case Kind::date:
      return type.is_float() || type.wire == Wire::date32 || type.wire == Wire::date64 ||
             (type.wire == Wire::timestamp && type.zone.empty());
  }
  return false;
}

UnsupportedColumn unsupported(const Field& field) {
  return UnsupportedColumn("column " + std::string(field.name) + " takes " +
                           std::string(name_of(field.kind)) +
                           ", and the Arrow data has another type: cast it before it is passed");
}

bool has_values(const ArrayReader& values) {
  bool found = false;
  values.with_values([&](const auto* of_rows) {
    for (std::int64_t row = 0; row < values.length() && !found; ++row) {
      found = values.valid(row) && !std::isnan(static_cast<double>(of_rows[row]));
    }
  });
  return found;
}

void set_null(TableBuilder& table, int field, std::int64_t first, std::int64_t count) {
  for (std::int64_t row = first; row < first + count; ++row) table.set_null(field, row);
}

template <typename Value>
Converted<std::int64_t> as_integer(Value value) {
  if constexpr (std::is_floating_point_v<Value>) {
    constexpr double limit = 9223372036854775808.0;
    const double number = value;
    if (std::isnan(number)) return {};
    if (!(number >= -limit && number < limit)) return {.problem = Problem::out_of_range};
    if (number != std::floor(number)) return {.problem = Problem::not_integer};
    return {static_cast<std::int64_t>(number)};
  } else {
    if constexpr (std::is_same_v<Value, std::uint64_t>) {
      if (value > std::numeric_limits<std::int64_t>::max()) {
        return {.problem = Problem::out_of_range};
      }
    }
    return {static_cast<std::int64_t>(value)};
  }
}

template <typename Value>
Converted<double> as_number(Value value) {
  if constexpr (std::is_floating_point_v<Value>) {
    if (std::isnan(value)) return {};
    if (std::isinf(value)) return {.problem = Problem::out_of_range};
    return {static_cast<double>(value)};
  } else {
    const Converted<std::int64_t> whole = as_integer(value);
    const auto exact = whole.cell ? exact_double(*whole.cell) : std::nullopt;
    if (!exact) return {.problem = Problem::would_round};
    return {.cell = exact};
  }
}

// `zoned`: the value is an instant, whose wall clock time may be on the day before or after.
TRADINGDATA_INLINE Converted<std::int64_t> as_time(std::int64_t value, std::int64_t per_second,
                                                   bool zoned) {
  Converted<std::int64_t> time;
  std::int64_t micros = value;
  if (per_second > micros_per_second) {
    const std::int64_t finer = per_second / micros_per_second;
    micros = value / finer - (value % finer < 0 ? 1 : 0);
    if (value % finer != 0) time.problem = Problem::time_cut;
  } else {
    const std::int64_t coarser = micros_per_second / per_second;
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (value > most / coarser || value < -(most / coarser)) {
      return {.problem = Problem::out_of_range};
    }
    micros = value * coarser;
  }
  const std::int64_t first = first_day + (zoned ? 1 : 0);
  const std::int64_t last = last_day - (zoned ? 1 : 0);
  if (micros < first * micros_per_day || micros >= (last + 1) * micros_per_day) {
    return {.problem = Problem::out_of_range};
  }
  if (micros == zero_date * micros_per_day && !time.problem) return {};
  if (day_of(micros) == zero_date) return {.problem = Problem::out_of_range};
  time.cell = micros;
  return time;
}

Converted<std::int32_t> as_date(std::int64_t days) {
  if (days < first_day || days > last_day) return {.problem = Problem::out_of_range};
  if (days == zero_date) return {};
  return {static_cast<std::int32_t>(days)};
}

Converted<std::int32_t> as_date_of(std::int64_t value, std::int64_t per_second) {
  const Converted<std::int64_t> time = as_time(value, per_second, false);
  if (!time.cell) return {.problem = time.problem};
  const std::int32_t day = day_of(*time.cell);
  if (time.problem || *time.cell != day * micros_per_day) return {.problem = Problem::not_date};
  return as_date(day);
}

// Notes that a row has no value, or another one, where the column has one.
void note(TableBuilder& table, int field, Problem problem, std::int64_t row,
          const std::string& raw) {
  const std::string_view name = table.table().schema().field(field).name;
  std::vector<Issue>& issues = table.issues();
  auto found = std::ranges::find_if(
      issues, [&](const Issue& issue) { return issue.problem == problem && issue.field == name; });
  if (found == issues.end()) {
    found = issues.insert(found, {std::string(name), problem, 0, row, raw});
  }
  ++found->count;
}

// These fill the rows of a field from `first` on, which must be reserved.

template <typename Cell, typename Convert>
void fill_cells(TableBuilder& table, int field, const ArrayReader& values, std::int64_t first,
                const Convert& convert) {
  auto* const cells = table.cells<Cell>(field) + first;
  values.with_values([&](const auto* of_rows) {
    for (std::int64_t row = 0; row < values.length(); ++row) {
      Converted<Cell> converted;
      if (values.valid(row)) converted = convert(of_rows[row]);
      if (converted.problem) [[unlikely]]
        note(table, field, *converted.problem, first + row, std::to_string(of_rows[row]));
      if (converted.cell) {
        cells[row] = *converted.cell;
      } else {
        table.set_null(field, first + row);
      }
    }
  });
}

void fill_texts(TableBuilder& table, int field, const ArrayReader& values, std::int64_t first,
                bool mask) {
  auto* const cells = table.cells<TextView>(field) + first;
  const std::string_view name = table.table().schema().field(field).name;
  std::int64_t next = 0;  // rows before it are done
  const auto skip_to = [&](std::int64_t row) {
    for (; next < row; ++next) table.set_null(field, first + next);
  };
  values.each_text([&](std::int64_t row, std::string_view text) {
    skip_to(row);
    if (!values.is_ascii()) check_utf8(name, text);
    TextView& cell = cells[next++];
    if (mask || text.size() > TextView::inline_capacity) {
      cell = table.keep_text(mask ? std::string_view(masked(text)) : text);
    } else if (values.text_end() - text.data() >= static_cast<std::ptrdiff_t>(sizeof cell)) {
      store_view(&cell, text.data(), text.size(), 0);
    } else {
      cell.hold(text);
    }
  });
  skip_to(values.length());
}

std::string json_of(std::string_view text) {
  constexpr std::int64_t most = 64;  // as of a value that was decoded
  std::string json;
  put_json_text(json, text);
  return redacted_line(json, most, nullptr);
}

// Fills cells of another kind from text, as the decoder does.
template <typename Cell, typename Convert>
void fill_from_text(TableBuilder& table, int field, const ArrayReader& values, std::int64_t first,
                    const Convert& convert) {
  auto* const cells = table.cells<Cell>(field) + first;
  const Field& declared = table.table().schema().field(field);
  const bool numeric = declared.kind == Kind::integer || declared.kind == Kind::number;
  std::int64_t next = 0;  // rows before it are done
  const auto skip_to = [&](std::int64_t row) {
    for (; next < row; ++next) table.set_null(field, first + next);
  };
  values.each_text([&](std::int64_t row, std::string_view text) {
    skip_to(row);
    check_utf8(declared.name, text);
    const Converted<Cell> converted = convert(first + row, text);
    const auto note_of = [&](Problem problem) {
      note(table, field, problem, first + row, json_of(text));
    };
    if (!converted.cell) {
      if (converted.problem) note_of(text.empty() ? Problem::empty_text : *converted.problem);
      return;  // the next skip stores none
    }
    cells[next++] = *converted.cell;
    if (numeric) note_of(Problem::number_as_text);
    if (converted.problem) note_of(*converted.problem);
  });
  skip_to(values.length());
}

// The exact digits of a number, which text columns keep; nothing where some are lost.
template <typename Value>
Converted<std::string> as_digits(Value value) {
  if constexpr (std::is_floating_point_v<Value>) {
    constexpr double exact = 9007199254740992.0;  // larger ones may have been rounded
    const double number = value;
    if (std::isnan(number)) return {};
    if (std::isinf(number)) return {.problem = Problem::not_text};
    if (number != std::floor(number)) return {.cell = digits_of(value)};
    if (std::abs(number) > exact) return {.problem = Problem::would_round};
    return {.cell = digits_of(static_cast<std::int64_t>(number))};
  } else {
    return {.cell = digits_of(+value)};
  }
}

// Fills a text column from values of another type.
void fill_as_text(TableBuilder& table, int field, const WireType& type, const ArrayReader& values,
                  std::int64_t first, bool mask) {
  auto* const cells = table.cells<TextView>(field) + first;
  const auto put = [&](std::int64_t row, const Converted<std::string>& converted) {
    if (converted.cell) {
      cells[row] = table.keep_text(mask ? masked(*converted.cell) : *converted.cell);
    } else {
      table.set_null(field, first + row);
    }
    if (!converted.cell && !converted.problem) return;  // NaN
    note(table, field, converted.problem.value_or(Problem::text_as_number), first + row,
         mask || !converted.cell ? std::string() : *converted.cell);
  };
  const auto each_valid = [&](const auto& text_of) {
    for (std::int64_t row = 0; row < values.length(); ++row) {
      if (values.valid(row)) {
        put(row, text_of(row));
      } else {
        table.set_null(field, first + row);
      }
    }
  };
  using Text = Converted<std::string>;
  if (type.wire == Wire::boolean) {
    return each_valid(
        [&](std::int64_t row) { return Text{values.boolean(row) ? "true" : "false"}; });
  }
  if (type.wire == Wire::decimal) {
    return each_valid([&](std::int64_t row) { return Text{values.decimal(row, type)}; });
  }
  values.with_values([&](const auto* of_rows) {
    each_valid([&](std::int64_t row) { return as_digits(of_rows[row]); });
  });
}

template <typename Cell, typename Convert>
void fill_from_decimals(TableBuilder& table, int field, const WireType& type,
                        const ArrayReader& values, std::int64_t first, const Convert& convert) {
  auto* const cells = table.cells<Cell>(field) + first;
  for (std::int64_t row = 0; row < values.length(); ++row) {
    Converted<Cell> converted;
    if (values.valid(row)) {
      const std::string digits = values.decimal(row, type);
      converted = convert(digits);
      if (converted.problem) note(table, field, *converted.problem, first + row, digits);
    }
    if (converted.cell) {
      cells[row] = *converted.cell;
    } else {
      table.set_null(field, first + row);
    }
  }
}

void fill_from_texts(TableBuilder& table, int field, const ArrowPart& part,
                     std::vector<TextOffset>& offsets) {
  const auto cells = [&]<typename Cell>(Cell, const auto& convert) {
    fill_from_text<Cell>(table, field, part.values, part.first, convert);
  };
  switch (table.table().schema().field(field).kind) {
    case Kind::text: return fill_texts(table, field, part.values, part.first, part.mask);
    case Kind::integer:
      return cells(std::int64_t{}, [](std::int64_t, auto text) { return integer_from(text); });
    case Kind::number:
      return cells(double{}, [](std::int64_t, auto text) { return number_from(text); });
    case Kind::date:
      return cells(std::int32_t{}, [](std::int64_t, auto text) { return date_from(text); });
    case Kind::timestamp:
      return cells(std::int64_t{}, [&](std::int64_t row, std::string_view text) {
        std::optional<int> offset;
        const Converted<std::int64_t> time = time_from(text, offset);
        if (offset) offsets.push_back({*offset, field, row, json_of(text)});
        return time;
      });
  }
}

}  // namespace

void check_takes(const Field& field, const WireType& type) {
  if (!takes(field.kind, type)) throw unsupported(field);
}

void fill_from_arrow(TableBuilder& table, int field, const ArrowPart& part,
                     std::vector<TextOffset>& offsets) {
  const WireType& type = part.type;
  const ArrayReader& values = part.values;
  const auto cells = [&]<typename Cell>(Cell, const auto& convert) {
    fill_cells<Cell>(table, field, values, part.first, convert);
  };
  const Kind kind = table.table().schema().field(field).kind;
  // pandas reads a column of a CSV that has no values as floats, all of them NaN.
  const bool is_empty = type.is_float() && (kind == Kind::timestamp || kind == Kind::date);
  if (is_empty && has_values(values)) throw unsupported(table.table().schema().field(field));
  if (is_empty || type.wire == Wire::null) {
    return set_null(table, field, part.first, values.length());
  }
  if (type.is_text()) return fill_from_texts(table, field, part, offsets);
  const bool is_decimal = type.wire == Wire::decimal;
  switch (kind) {
    case Kind::text: return fill_as_text(table, field, type, values, part.first, part.mask);
    case Kind::integer:
      if (is_decimal) {
        return fill_from_decimals<std::int64_t>(table, field, type, values, part.first,
                                                integer_from);
      }
      return cells(std::int64_t{}, [](auto value) { return as_integer(value); });
    case Kind::number:
      if (is_decimal) {
        return fill_from_decimals<double>(table, field, type, values, part.first, number_from);
      }
      return cells(double{}, [](auto value) { return as_number(value); });
    case Kind::timestamp:
      // By value, so that the divisions of the unit leave the loop.
      return cells(std::int64_t{},
                   [unit = type.per_second, zoned = !type.zone.empty()](auto value) {
                     return as_time(static_cast<std::int64_t>(+value), unit, zoned);
                   });
    case Kind::date:
      return cells(std::int32_t{}, [&type](auto value) {
        const auto units = static_cast<std::int64_t>(+value);
        if (type.wire == Wire::date32) return as_date(units);
        constexpr std::int64_t milliseconds = 1000;
        return as_date_of(units, type.wire == Wire::date64 ? milliseconds : type.per_second);
      });
  }
}

void settle_text_offsets(TableBuilder& table, const std::vector<TextOffset>& offsets) {
  const auto note_of = [&](Problem problem, int field, std::int64_t row, const TextOffset* time) {
    note(table, field, problem, row,
         time != nullptr ? time->raw
                         : json_of(format_timestamp(table.cells<std::int64_t>(field)[row])));
  };
  if (!offsets.empty()) settle_offsets(table, offsets, note_of);
}

}  // namespace tradingdata::detail
