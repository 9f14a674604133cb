// Collects unknown fields column by column, and then sorts them by row, as a table has them.
#include "decode/unknown_fields.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "decode/arrow_json.hpp"
#include "decode/decode.hpp"
#include "decode/json.hpp"
#include "decode/pan_mask.hpp"
#include "privacy/personal.hpp"

namespace tradingdata::detail {

namespace {

// A personal value, masked as in a response.
std::string hidden(std::string_view json) {
  Buffer bytes(json);
  const Document body(bytes);
  PanMask(body, true).hide_in_field(true, body.begin(), body.end());
  return std::string(bytes.view());
}

}  // namespace

void UnknownFields::add(std::int64_t row, std::int32_t name, std::string_view json) {
  const auto [buffer, offset] = table_.keep_bytes(json);
  extras_.push_back({.row = row,
                     .name = name,
                     .buffer = buffer,
                     .offset = offset,
                     .size = static_cast<std::int32_t>(json.size())});
}

void UnknownFields::add_column(const std::string& name, const ArrayReader& values,
                               std::int64_t first) {
  check_utf8(name, name);
  const std::int32_t number = table_.extra_name(name);
  const bool hide = mask_ && is_personal_name(name);
  ArrowLiterals literals(values.type(), values.type().wire == Wire::date64);
  values.each([&]<typename Value>(std::int64_t row, const Value& value) {
    if constexpr (std::is_same_v<Value, std::string_view>) check_utf8(name, value);
    Literal literal = literals.of(value);
    if (literal.type == Literal::Type::null) return;
    if constexpr (std::is_floating_point_v<Value>) {  // many readers of JSON take no 1e999
      if (std::isinf(value)) {
        literal.type = Literal::Type::text;
        literal.text = value > 0 ? "inf" : "-inf";
      }
    }
    const std::string json = json_of(literal);
    add(first + row, number, hide ? hidden(json) : json);
  });
}

void UnknownFields::add_objects(const ArrayReader& values, std::int64_t first) {
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

void UnknownFields::add_object(std::int64_t row, std::string_view text) {
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

void UnknownFields::fill(int field, std::int64_t row, const Literal& value) {
  if (!table_.table().valid(field, row)) filler_.fill_cell(field, row, value);
  Presence& rows = of_field_[static_cast<std::size_t>(field)];
  if (rows.latest == row) return;  // it has the field twice
  ++rows.count;
  rows.latest = row;
  if (rows.first_without == row) ++rows.first_without;
}

void UnknownFields::finish() {
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
