// Collects unknown fields column by column, and then sorts them by row, as a table has them.
#include "decode/arrow_extras.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "decode/decode.hpp"
#include "decode/json.hpp"
#include "privacy/personal.hpp"

namespace tradingdata::detail {

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

// The JSON of a value that is no text; empty for NaN, which JSON lacks.
template <typename Value>
std::string json_of(const Value& value, const WireType& type) {
  if constexpr (std::is_floating_point_v<Value>) {
    if (std::isnan(value)) return {};
    if (std::isinf(value)) return json_text_of(value > 0 ? "inf" : "-inf");
  }
  if constexpr (std::is_integral_v<Value>) {
    constexpr std::int64_t most_seconds = (last_date + 1) * seconds_per_day;
    const auto units = static_cast<std::int64_t>(+value);
    const bool dated = type.wire == Wire::date32 || type.wire == Wire::date64;
    const std::int64_t days =
        type.wire == Wire::date64 ? units / (type.per_second * seconds_per_day) : units;
    if (dated && days <= last_date && days >= zero_date) {
      return json_text_of(format_date(static_cast<std::int32_t>(days)));
    }
    if (type.wire == Wire::timestamp) {
      const std::int64_t seconds = units / type.per_second;
      const bool fits = seconds < most_seconds && seconds > zero_date * seconds_per_day;
      if (fits) return json_text_of(time_text(units, type));
    }
  }
  return written(value);
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

void ArrowExtras::add_column(const std::string& name, const ArrayReader& values,
                             std::int64_t first) {
  check_utf8(name, name);
  const std::int32_t number = table_.extra_name(name);
  const bool hide = mask_ && is_personal_name(name);
  values.each([&](std::int64_t row, const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const std::string_view&>) {
      check_utf8(name, value);
      add(first + row, number, json_text_of(hide ? masked(value) : std::string(value)));
    } else {
      const std::string json = json_of(value, values.type());
      if (!json.empty()) add(first + row, number, hide ? json_text_of(masked(json)) : json);
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
  const char* const begin = body.pass_space(body.begin());
  if (*begin != '{') body.fail(begin, "an object must be here");
  body.pass_end(body.pass_value(begin, depth - 1));
  visit_pairs(body, begin, depth, [&](const Pair& pair) {
    const std::string name = pair.name();
    const int field = table_.table().schema().find_sent(name);
    if (field >= 0) {
      fill(field, row, read_literal(body, pair.value, depth, scratch_));
      return true;
    }
    const char* const end = body.pass_value(pair.value, depth);
    add(row, table_.extra_name(name), {pair.value, static_cast<std::size_t>(end - pair.value)});
    return true;
  });
}

void ArrowExtras::fill(int field, std::int64_t row, const Literal& value) {
  if (!table_.table().valid(field, row)) fill_from_json(table_, field, row, value, offsets_);
  Rows& rows = of_field_[static_cast<std::size_t>(field)];
  if (rows.latest == row) return;  // it has the field twice
  ++rows.count;
  rows.latest = row;
  if (rows.first_without == row) ++rows.first_without;
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
