// What is reported about values: the issues of the table, and the first reason to refuse a decoded
// book, which is raised only once the rest of the response is known to be valid JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "decode/decode.hpp"
#include "decode/json.hpp"
#include "privacy/personal.hpp"
#include "privacy/shown.hpp"
#include "privacy/tokens.hpp"
#include "table/table.hpp"

namespace tradingdata::detail {

constexpr std::int64_t most_of_a_value = 64;  // bytes of a value shown in an issue

// The issues of a table: one for each field and problem, with the first such value.
class IssueCounts {
 public:
  IssueCounts(TableBuilder& table, TokenSearch* tokens) : table_(table), tokens_(tokens) {}

  // `raw()` gives the JSON text of a field's value; it is not called for most values.
  template <typename Raw>
  void add(int field, Problem problem, std::int64_t row, const Raw& raw) {
    const Field& noted = table_.table().schema().field(field);
    add(field * problem_count + static_cast<int>(problem), noted.name, problem, row,
        noted.personal(), raw);
  }
  // The same of an unknown field.
  template <typename Raw>
  void add_unknown(std::int32_t extra, Problem problem, std::int64_t row, const Raw& raw) {
    const std::string& name = table_.table().extra_names()[static_cast<std::size_t>(extra)];
    add(table_.table().schema().width() * problem_count + extra, name, problem, row,
        is_personal_name(name), raw);
  }

 private:
  template <typename Raw>
  void add(int place, std::string_view name, Problem problem, std::int64_t row, bool personal,
           const Raw& raw) {
    auto& issues = table_.issues();
    const auto position = static_cast<std::size_t>(place);
    if (position >= index_.size()) index_.resize(position + 1, -1);
    if (index_[position] < 0) {
      index_[position] = static_cast<std::int32_t>(issues.size());
      const std::string shown =
          personal ? std::string() : redacted_line(raw(), most_of_a_value, tokens_);
      issues.push_back(Issue{std::string(name), problem, 0, row, shown});
    }
    ++issues[static_cast<std::size_t>(index_[position])].count;
  }

  TableBuilder& table_;
  TokenSearch* tokens_;
  std::vector<std::int32_t> index_;  // of each field and problem, then of each unknown field; or -1
};

// What the decoder reports: these issues, and the first refusal.
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
  void refuse_if_strict(std::string_view name, Problem problem, std::int64_t row,
                        const char* place);

  const Document& body_;
  TableBuilder& table_;
  const DecodeOptions& options_;
  std::string where_;
  IssueCounts counts_;
  std::optional<Error> refusal_;
};

}  // namespace tradingdata::detail
