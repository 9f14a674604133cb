// Converts values where nothing is lost, as the decoder does with JSON; what does not fit is null
// and an issue.
#include "decode/arrow_columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/number.hpp"
#include "base/simd.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "decode/decode.hpp"
#include "decode/json.hpp"
#include "decode/redact.hpp"

namespace tradingdata::detail {

namespace {

constexpr std::int32_t first_day = zero_date;
constexpr std::int32_t last_day =
    days_since_epoch({std::chrono::year(9999), std::chrono::December, std::chrono::day(31)});

bool takes(Kind kind, const WireType& type) {
  if (type.wire == Wire::null) return true;
  switch (kind) {
    case Kind::text: return type.is_text();
    case Kind::integer:
    case Kind::number: return type.is_integer() || type.is_float();
    case Kind::timestamp: return type.wire == Wire::timestamp;
    case Kind::date:
      return type.wire == Wire::date32 || type.wire == Wire::date64 ||
             (type.wire == Wire::timestamp && type.zone.empty());
  }
  return false;
}

void set_null(TableBuilder& table, int field, std::int64_t first, std::int64_t count) {
  for (std::int64_t row = first; row < first + count; ++row) table.set_null(field, row);
}

// What a cell holds, and what is to be noted of it.
template <typename Cell>
struct Converted {
  std::optional<Cell> cell = {};
  std::optional<Problem> problem = {};
};

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

}  // namespace

void check_utf8(std::string_view column, std::string_view text) {
  if (is_ascii(text)) return;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    char last[4] = {};  // behind the text may be anything
    const auto left = static_cast<std::size_t>(end - at);
    if (left < sizeof last) std::memcpy(last, at, left);
    const int length = scan_utf8(left < sizeof last ? last : at).length;
    if (length == 0 || static_cast<std::size_t>(length) > left) {
      throw std::invalid_argument("the Arrow data is malformed: column " + std::string(column) +
                                  " has text that is not UTF-8");
    }
    at += length;
  }
}

ArrowField::ArrowField(TableBuilder& table, int field, const WireType& type, bool mask)
    : table_(table),
      field_(field),
      declared_(table.table().schema().field(field)),
      type_(type),
      mask_(mask && declared_.personal()) {
  if (takes(declared_.kind, type)) return;
  throw UnsupportedColumn("column " + std::string(declared_.name) + " takes " +
                          std::string(name_of(declared_.kind)) +
                          ", and the Arrow data has another type: cast it before it is passed");
}

template <typename Cell, typename Convert>
void ArrowField::fill_cells(const ArrayReader& values, const Convert& convert) {
  auto* const cells = table_.cells<Cell>(field_) + first_;
  values.with_values([&](const auto* of_rows) {
    for (std::int64_t row = 0; row < values.length(); ++row) {
      if (!values.valid(row)) {
        table_.set_null(field_, first_ + row);
        continue;
      }
      const Converted<Cell> converted = convert(of_rows[row]);
      if (converted.problem) [[unlikely]]
        note(*converted.problem, first_ + row, std::to_string(of_rows[row]));
      if (converted.cell) {
        cells[row] = *converted.cell;
      } else {
        table_.set_null(field_, first_ + row);
      }
    }
  });
}

void ArrowField::fill(const ArrayReader& values, std::int64_t first) {
  first_ = first;
  if (type_.wire == Wire::null) return set_null(table_, field_, first, values.length());
  switch (declared_.kind) {
    case Kind::text: return fill_texts(values);
    case Kind::integer:
      return fill_cells<std::int64_t>(values, [](auto value) { return as_integer(value); });
    case Kind::number:
      return fill_cells<double>(values, [](auto value) { return as_number(value); });
    case Kind::timestamp:
      // By value, so that the divisions of the unit leave the loop.
      return fill_cells<std::int64_t>(
          values, [unit = type_.per_second, zoned = !type_.zone.empty()](auto value) {
            return as_time(static_cast<std::int64_t>(+value), unit, zoned);
          });
    case Kind::date:
      return fill_cells<std::int32_t>(values, [this](auto value) {
        const auto units = static_cast<std::int64_t>(+value);
        if (type_.wire == Wire::date32) return as_date(units);
        constexpr std::int64_t milliseconds = 1000;
        return as_date_of(units, type_.wire == Wire::date64 ? milliseconds : type_.per_second);
      });
  }
}

void fill_missing(TableBuilder& table, int field, std::int64_t rows) {
  set_null(table, field, 0, rows);
  const Field& declared = table.table().schema().field(field);
  if (rows == 0 || declared.optional()) return;
  table.issues().push_back({std::string(declared.name), Problem::missing, rows, 0, {}});
}

void ArrowField::note(Problem problem, std::int64_t row, const std::string& raw) {
  std::vector<Issue>& issues = table_.issues();
  auto found = std::find_if(issues.begin(), issues.end(), [&](const Issue& issue) {
    return issue.problem == problem && issue.field == declared_.name;
  });
  if (found == issues.end()) {
    found = issues.insert(found, {std::string(declared_.name), problem, 0, row, raw});
  }
  ++found->count;
}

void ArrowField::fill_texts(const ArrayReader& values) {
  auto* const cells = table_.cells<TextView>(field_) + first_;
  std::int64_t next = 0;  // rows before it are done
  const auto skip_to = [&](std::int64_t row) {
    for (; next < row; ++next) table_.set_null(field_, first_ + next);
  };
  values.each_text([&](std::int64_t row, std::string_view text) {
    skip_to(row);
    if (!values.is_ascii()) check_utf8(declared_.name, text);
    TextView& cell = cells[next++];
    if (mask_ || text.size() > TextView::inline_capacity) {
      cell = table_.keep_text(mask_ ? std::string_view(masked(text)) : text);
    } else {
      cell.hold(text);
    }
  });
  skip_to(values.length());
}

// Collects unknown fields column by column, and then sorts them by row, as a table has them.

namespace {

std::string json_text_of(std::string_view text) {
  std::string json;
  put_json_text(json, text);
  return json;
}

std::string time_text(std::int64_t value, const WireType& type) {
  const std::int64_t second = value / type.per_second - (value % type.per_second < 0 ? 1 : 0);
  const std::int64_t part = value - second * type.per_second;
  std::string text =
      format_timestamp(second * micros_per_second + part * micros_per_second / type.per_second);
  if (!type.zone.empty()) text += 'Z';
  return text;
}

// The JSON of a number or time; empty for NaN, which JSON lacks.
template <typename Value>
std::string json_of(Value value, const WireType& type) {
  if constexpr (std::is_floating_point_v<Value>) {
    if (std::isnan(value)) return {};
    return std::isfinite(value) ? digits_of(value) : json_text_of(value > 0 ? "inf" : "-inf");
  } else {
    constexpr std::int64_t milliseconds_per_day = 86'400'000;
    constexpr std::int64_t most_days = 2'932'896;  // 9999-12-31
    constexpr std::int64_t most_seconds = (most_days + 1) * seconds_per_day;
    const auto units = static_cast<std::int64_t>(+value);
    const bool dated = type.wire == Wire::date32 || type.wire == Wire::date64;
    const std::int64_t days = type.wire == Wire::date64 ? units / milliseconds_per_day : units;
    if (dated && days <= most_days && days >= zero_date) {
      return json_text_of(format_date(static_cast<std::int32_t>(days)));
    }
    if (type.wire == Wire::timestamp) {
      const std::int64_t seconds = units / type.per_second;
      const bool fits = seconds < most_seconds && seconds > zero_date * seconds_per_day;
      if (fits) return json_text_of(time_text(units, type));
    }
    return digits_of(value);
  }
}

}  // namespace

void ArrowExtras::add(std::int64_t row, std::int32_t name, std::string_view json) {
  const auto [buffer, offset] = table_.keep_bytes(json);
  extras_.push_back({.row = row,
                     .name = name,
                     .buffer = buffer,
                     .offset = offset,
                     .size = static_cast<std::int32_t>(json.size())});
}

void ArrowExtras::add_column(const std::string& name, const WireType& type,
                             const ArrayReader& values, std::int64_t first) {
  check_utf8(name, name);
  const std::int32_t number = table_.extra_name(name);
  const bool hide = mask_ && is_personal_name(name);
  const auto put = [&](std::int64_t row, const std::string& json) {
    if (!json.empty()) add(first + row, number, hide ? json_text_of(masked(json)) : json);
  };
  if (type.is_text()) {
    return values.each_text([&](std::int64_t row, std::string_view text) {
      check_utf8(name, text);
      add(first + row, number, json_text_of(hide ? masked(text) : std::string(text)));
    });
  }
  if (type.wire == Wire::null) return;
  for (std::int64_t row = 0; row < values.length() && type.wire == Wire::boolean; ++row) {
    if (values.valid(row)) put(row, values.boolean(row) ? "true" : "false");
  }
  if (type.wire == Wire::boolean) return;
  values.with_values([&](const auto* of_rows) {
    for (std::int64_t row = 0; row < values.length(); ++row) {
      if (values.valid(row)) put(row, json_of(of_rows[row], type));
    }
  });
}

void ArrowExtras::add_objects(const ArrayReader& values, std::int64_t first) {
  values.each_text([&](std::int64_t row, std::string_view text) {
    if (text.empty()) return;
    try {
      add_object(first + row, mask_ ? std::string_view(masked_json(text)) : text);
    } catch (const Error& error) {
      throw std::invalid_argument("row " + std::to_string(first + row) +
                                  " of the column extra is " + "no JSON object: " + error.what());
    }
  });
}

void ArrowExtras::add_object(std::int64_t row, std::string_view text) {
  constexpr int depth = 1;
  object_.clear();
  object_.append(text);
  const Document body(object_);
  const char* at = body.pass_space(body.begin());
  if (*at != '{') body.fail(at, "an object must be here");
  if (body.pass_opening(at, '}')) {
    do {
      const StringScan scan = body.scan_text(at);
      const std::string name = unescaped(at + 1, scan.end);
      const char* const value = body.pass_mark(scan.end + 1, ':');
      at = body.pass_value(value, depth);
      if (table_.table().schema().find(name) >= 0) continue;
      add(row, table_.extra_name(name), {value, static_cast<std::size_t>(at - value)});
    } while (body.pass_separator(at, '}'));
  }
  body.pass_end(at);
}

void ArrowExtras::finish() {
  std::stable_sort(extras_.begin(), extras_.end(),
                   [](const Extra& a, const Extra& b) { return a.row < b.row; });
  std::vector<Extra>& out = table_.extras();
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> latest(table_.table().extra_names().size(), none);  // by name
  for (const Extra& extra : extras_) {
    std::size_t& place = latest[static_cast<std::size_t>(extra.name)];
    if (place != none && out[place].row == extra.row) {
      out[place] = extra;
    } else {
      place = out.size();
      out.push_back(extra);
    }
  }
}

}  // namespace tradingdata::detail
