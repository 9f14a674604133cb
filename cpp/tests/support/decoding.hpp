// Helpers that decode a text and summarise the result.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "support/whole_body.hpp"
#include "table/records.hpp"

namespace tradingdata::decoding {

using Decoded = std::shared_ptr<const Table>;

inline Decoded book(std::string_view body, const DecodeOptions& options = {},
                    const Schema& schema = trade_schema) {
  return decode_book(schema, Buffer(body), options);
}

inline Decoded list(std::string_view body, const DecodeOptions& options = {}) {
  return decode_list(stock_schema, Buffer(body), options);
}

inline Decoded decode(const Schema& schema, std::string_view body,
                      const DecodeOptions& options = {}) {
  return schema.record == "Stock" ? list(body, options) : book(body, options, schema);
}

// The error that decoding throws; a failed check where it throws none.
template <typename Decode>
Error failure(Decode decode) {
  try {
    decode();
  } catch (const Error& error) {
    return error;
  }
  FAIL_CHECK("nothing was refused");
  return Error(ErrorKind::configuration, "");
}

inline Error book_failure(std::string_view body, const DecodeOptions& options = {}) {
  return failure([&] { book(body, options); });
}

inline Error list_failure(std::string_view body) {
  return failure([&] { list(body); });
}

inline std::optional<Issue> issue(const Table& table, std::string_view field, Problem problem) {
  for (const Issue& found : table.issues()) {
    if (found.field == field && found.problem == problem) return found;
  }
  return std::nullopt;
}

inline std::string cell(const Table& table, std::string_view field, std::int64_t row = 0) {
  const int at = table.schema().find(field);
  REQUIRE(at >= 0);
  return cell_text(table, at, row);
}

// Every cell and every extra of a table, for comparison.
inline std::string contents(const Table& table) {
  std::string text =
      std::to_string(table.rows()) + " rows of " + std::string(table.schema().record);
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (const Field& field : table.schema().fields) text += "|" + cell(table, field.name, row);
    for (const Extra& extra : table.extras_of(row)) {
      text += "|" + table.extra_name(extra) + "=";
      text += table.extra_json(extra);
    }
    text += "\n";
  }
  return text;
}

}  // namespace tradingdata::decoding
