// What the decoder reports about values: the issues of the table, and the first reason to refuse
// the book, which is raised only once the rest of the response is known to be valid JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "decode/decode.hpp"
#include "decode/json.hpp"
#include "privacy/tokens.hpp"
#include "table/table.hpp"

namespace tradingdata::detail {

class IssueLog {
 public:
  // `where` is the JSON path of the array: records are at where[0], where[1], ...
  IssueLog(const Document& body, TableBuilder& table, const DecodeOptions& options,
           std::string_view where);

  // A value of a field, which begins at `place`; `raw` is its JSON text.
  void note(int field, Problem problem, std::int64_t row, const char* place, std::string_view raw);
  // An unknown field that a record has twice.
  void note_repeated(std::int32_t extra, std::int64_t row, std::string_view lost);

  // Only the first refusal is kept.
  void refuse(const char* place, std::string_view problem, const std::string& path);
  const std::optional<Error>& refusal() const { return refusal_; }

  // $.data[3], or $.data[3].name.
  std::string path_of(std::int64_t element, std::string_view name = "") const;

 private:
  void count(int place, std::string_view name, Problem problem, std::int64_t row,
             std::string_view raw);
  void refuse_if_strict(std::string_view name, Problem problem, std::int64_t row,
                        const char* place);

  const Document& body_;
  TableBuilder& table_;
  const DecodeOptions& options_;
  std::string where_;
  // The issue of each field and problem, then of each unknown field; or -1.
  std::vector<std::int32_t> index_;
  std::optional<Error> refusal_;
};

}  // namespace tradingdata::detail
