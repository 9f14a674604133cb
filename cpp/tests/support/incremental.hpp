// A body decoded at once, and in pieces: what came of it as one text, so that the two compare. Also
// used by the fuzzer.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "support/whole_body.hpp"

namespace tradingdata::incremental {

using Cuts = std::vector<std::size_t>;  // sorted

// All that a caller can see of a table.
inline std::string summary(const Table& table) {
  std::string text = std::to_string(table.rows()) + "\n";
  for (int field = 0; field < table.schema().width(); ++field) {
    text += std::to_string(table.column(field).nulls) + ":";
    for (std::int64_t row = 0; row < table.rows(); ++row) {
      text += cell_text(table, field, row) + "|";
    }
    text += "\n";
  }
  for (const Extra& extra : table.extras()) {
    text += std::to_string(extra.row) + table.extra_name(extra) + "=" +
            std::string(table.extra_json(extra)) + "\n";
  }
  for (const std::string& name : table.extra_names()) text += name + ",";
  for (const Issue& issue : table.issues()) {
    text += "\n" + issue.field + " " + std::string(describe(issue.problem).text) + " " +
            std::to_string(issue.count) + " " + std::to_string(issue.row) + " " + issue.raw;
  }
  return text + "\n" + std::string(table.buffers().front().view());
}

inline std::string summary(const Error& error) {
  return std::to_string(static_cast<int>(error.kind)) + error.what() + "\n" + error.path + " " +
         std::to_string(error.offset.value_or(-1)) + " " + std::to_string(error.incomplete) + "\n" +
         error.body;
}

template <typename Decode>
std::string outcome(const Decode& decode) {
  try {
    return summary(*decode());
  } catch (const Error& error) {
    return summary(error);
  }
}

inline std::string all_at_once(const Schema& schema, Decoder::Form form, std::string_view body,
                               const DecodeOptions& options) {
  return outcome([&] {
    const auto decode = form == Decoder::Form::book ? decode_book : decode_list;
    return decode(schema, Buffer(body), options);
  });
}

inline std::string in_pieces(const Schema& schema, Decoder::Form form, std::string_view body,
                             const DecodeOptions& options, const Cuts& cuts) {
  Decoder decoder(schema, form, options, 0);
  Buffer buffer;
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    buffer.append(body.substr(from, cut - from));
    from = cut;
    decoder.advance(buffer);
  }
  buffer.append(body.substr(from));
  return outcome([&] { return decoder.finish(std::move(buffer)); });
}

inline Cuts every(std::string_view body, std::size_t piece) {
  Cuts cuts;
  for (std::size_t at = piece; at < body.size(); at += piece) cuts.push_back(at);
  return cuts;
}

}  // namespace tradingdata::incremental
