// What a value means in a column of another kind, for the decoder and for Arrow alike: conversions
// that lose nothing, and why a value was not taken.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "decode/json.hpp"
#include "table/table.hpp"

namespace tradingdata::detail {

// A cell, and what is to be noted of it; or no cell, and why, unless it is the zero date.
template <typename Cell>
struct Converted {
  std::optional<Cell> cell = {};
  std::optional<Problem> problem = {};
};

// A number as JSON writes it, which spaces may surround.
struct NumberText {
  explicit NumberText(std::string_view text) : digits(trimmed(text, " ")) {
    scan = scan_number(digits.c_str());
    sound = scan.end == digits.c_str() + digits.size();
  }

  std::string digits;  // a copy: the scan needs a terminator that is not part of a number
  NumberScan scan;
  bool sound;
};

inline Converted<std::int64_t> integer_from(std::string_view text) {
  const NumberText number(text);
  if (!number.sound) return {.problem = Problem::not_integer};
  const auto value = integer_of(number.scan);
  if (value) {
    if (number.scan.integral) return {.cell = value};
    return {.cell = value, .problem = Problem::integer_as_fraction};
  }
  const bool whole = number.scan.exponent >= 0;  // as far as the digits show
  return {.problem = whole ? Problem::out_of_range : Problem::not_integer};
}

inline Converted<double> number_from(std::string_view text) {
  const NumberText number(text);
  if (!number.sound) return {.problem = Problem::not_number};
  double value = 0;
  switch (double_of(number.scan, number.digits, value)) {
    case NumberFit::exact: return {.cell = value};
    case NumberFit::out_of_range: return {.problem = Problem::out_of_range};
    case NumberFit::would_round: break;
  }
  return {.problem = Problem::would_round};
}

inline Converted<std::int32_t> date_from(std::string_view text) {
  std::int32_t days = 0;
  switch (parse_date(text, days)) {
    case TimeFit::documented: return {.cell = days};
    case TimeFit::other_form: return {.cell = days, .problem = Problem::date_with_time};
    case TimeFit::zero: return {};
    case TimeFit::unreadable: break;
  }
  return {.problem = Problem::not_date};
}

// `offset` becomes the time's offset from UTC in minutes, of which `settle_offsets` takes care.
inline Converted<std::int64_t> time_from(std::string_view text, std::optional<int>& offset) {
  Timestamp time;
  const TimeFit fit = parse_timestamp(text, time);
  if (fit == TimeFit::zero) return {};
  if (fit == TimeFit::unreadable) return {.problem = Problem::not_time};
  offset = time.offset;
  if (time.cut) return {.cell = time.micros, .problem = Problem::time_cut};
  if (fit == TimeFit::other_form && !offset) {
    return {.cell = time.micros, .problem = Problem::time_in_other_form};
  }
  return {.cell = time.micros};
}

// Passes what a JSON value means in a column of a kind to store(optional cell), and each problem to
// note(problem). A text column has the view that text_of(value) returns. Returns the offset of a
// time, of which `settle_offsets` takes care.
template <typename TextOf, typename Store, typename Note>
std::optional<int> convert(Kind kind, const Literal& value, const TextOf& text_of,
                           const Store& store, const Note& note) {
  const bool quoted = value.type == Literal::Type::text;
  const bool is_number = value.type == Literal::Type::number;
  std::optional<int> offset;
  const auto take = [&](bool takes_numbers, Problem wrong, const auto& read) {
    decltype(read()) found;
    if (quoted && value.damaged) {
      found.problem = Problem::lone_surrogate;
    } else if (quoted || (is_number && takes_numbers)) {
      found = read();
    } else if (value.type != Literal::Type::null) {
      found.problem = wrong;
    }
    store(found.cell);
    if (found.cell && quoted && (kind == Kind::integer || kind == Kind::number)) {
      note(Problem::number_as_text);
    }
    const bool empty = quoted && value.text.empty();
    if (found.problem) note(empty ? Problem::empty_text : *found.problem);
  };
  switch (kind) {
    case Kind::text:
      take(true, Problem::not_text, [&] {
        Converted<TextView> text{.cell = text_of(value)};
        if (is_number) text.problem = Problem::text_as_number;
        return text;
      });
      break;
    case Kind::integer:
      take(true, Problem::not_integer, [&] { return integer_from(value.text); });
      break;
    case Kind::number:
      take(true, Problem::not_number, [&] { return number_from(value.text); });
      break;
    case Kind::timestamp:
      take(false, Problem::not_time, [&] { return time_from(value.text, offset); });
      break;
    case Kind::date: take(false, Problem::not_date, [&] { return date_from(value.text); }); break;
  }
  return offset;
}

// A time that has an offset from UTC, in minutes, and its JSON text.
struct OffsetTime {
  int offset;
  int field;
  std::int64_t row;
  std::string raw;
  std::int64_t place = 0;  // its offset in the body
};

// A column holds clock times, which can be compared only if they are of one clock: the most
// frequent offset is dropped, and a time with another offset is lost. Where a column also has times
// without an offset, the fewer of the two are lost. `times` are in the order of their rows;
// note(problem, time) is called for each, and for a time without an offset that is lost, as one at
// the place of the first that has one.
template <typename Note>
void settle_offsets(TableBuilder& builder, const std::vector<OffsetTime>& times, const Note& note) {
  if (times.empty()) return;
  const Table& table = builder.table();
  std::map<int, std::int64_t> counts;
  std::map<int, std::vector<const OffsetTime*>> columns;
  for (const OffsetTime& time : times) {
    ++counts[time.offset];
    columns[time.field].push_back(&time);
  }
  std::set<int> without;  // columns whose times with an offset are lost
  for (const auto& [field, sent] : columns) {
    std::vector<std::int64_t> naive;
    auto next = sent.begin();
    for (std::int64_t row = 0; row < table.rows(); ++row) {
      const bool sent_with_one = next != sent.end() && (*next)->row == row;
      if (sent_with_one) ++next;
      if (!sent_with_one && table.valid(field, row)) naive.push_back(row);
    }
    if (!naive.empty() && naive.size() >= sent.size()) without.insert(field);
    if (naive.size() >= sent.size()) continue;
    for (const std::int64_t row : naive) {
      const std::string text = format_timestamp(builder.cells<std::int64_t>(field)[row]);
      note(Problem::offset_differs,
           OffsetTime{0, field, row, '"' + text + '"', sent.front()->place});
      builder.set_null(field, row);
    }
  }
  const auto usual = std::ranges::max_element(
      times, {}, [&](const OffsetTime& time) { return counts[time.offset]; });
  for (const OffsetTime& time : times) {
    const bool differs = time.offset != usual->offset || without.contains(time.field);
    if (differs) builder.set_null(time.field, time.row);
    note(differs ? Problem::offset_differs : Problem::offset_dropped, time);
  }
}

}  // namespace tradingdata::detail
