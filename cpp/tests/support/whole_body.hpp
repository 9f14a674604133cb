// Decodes a body that is there as a whole, and writes its cells.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include "decode/decode.hpp"

namespace tradingdata {

inline TablePtr decode_book(const Schema& schema, Buffer body, const DecodeOptions& options) {
  return Decoder(schema, Decoder::Form::book, options).finish(std::move(body));
}

inline TablePtr decode_list(const Schema& schema, Buffer body, const DecodeOptions& options) {
  return Decoder(schema, Decoder::Form::list, options).finish(std::move(body));
}

struct CellText {
  std::string operator()(std::string_view text) const { return std::string(text); }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const {
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
  }
  std::string operator()(Moment time) const { return format_timestamp(time.micros); }
  std::string operator()(Day day) const { return format_date(day.days); }
};

// A cell in the form in which the service would write it; "null" where there is none.
inline std::string cell_text(const Table& table, int field, std::int64_t row) {
  return table.valid(field, row) ? visit_cell(table, field, row, CellText()) : "null";
}

}  // namespace tradingdata
