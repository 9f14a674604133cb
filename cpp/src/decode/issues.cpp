// Collects issues, one for each field and problem.
#include "decode/issues.hpp"

#include "privacy/personal.hpp"
#include "privacy/shown.hpp"

namespace tradingdata::detail {

namespace {

constexpr std::int64_t most_raw = 64;         // bytes of a value shown in an issue
constexpr std::int64_t most_of_a_name = 100;  // bytes of an unknown name shown in a path

}  // namespace

IssueLog::IssueLog(const Document& body, TableBuilder& table, const DecodeOptions& options,
                   std::string_view where)
    : body_(body), table_(table), options_(options), where_(where) {}

void IssueLog::note(int field, Problem problem, std::int64_t row, const char* place,
                    std::string_view raw) {
  const Field& noted = table_.table().schema().field(field);
  count(field * problem_count + static_cast<int>(problem), noted.name, problem, row,
        noted.personal() ? std::string_view() : raw);
  refuse_if_strict(noted.name, problem, row, place);
}

void IssueLog::note_repeated(std::int32_t extra, std::int64_t row, std::string_view lost) {
  const Table& table = table_.table();
  const std::string& name = table.extra_names()[static_cast<std::size_t>(extra)];
  count(table.schema().width() * problem_count + extra, name, Problem::repeated_key, row,
        is_personal_name(name) ? std::string_view() : lost);
  refuse_if_strict(name, Problem::repeated_key, row, lost.data());
}

void IssueLog::count(int place, std::string_view name, Problem problem, std::int64_t row,
                     std::string_view raw) {
  auto& issues = table_.issues();
  const auto position = static_cast<std::size_t>(place);
  if (position >= index_.size()) index_.resize(position + 1, -1);
  if (index_[position] < 0) {
    index_[position] = static_cast<std::int32_t>(issues.size());
    issues.push_back(Issue{std::string(name), problem, 0, row,
                           redacted_line(raw, most_raw, options_.tokens.get())});
  }
  ++issues[static_cast<std::size_t>(index_[position])].count;
}

void IssueLog::refuse_if_strict(std::string_view name, Problem problem, std::int64_t row,
                                const char* place) {
  if (!options_.strict || refusal_ || !describe(problem).lost) return;
  refuse(place, std::string(describe(problem).text) + " (strict)", path_of(row, name));
}

void IssueLog::refuse(const char* place, std::string_view problem, const std::string& path) {
  if (!refusal_) refusal_ = at_path(body_.error(place, problem), path);
}

std::string IssueLog::path_of(std::int64_t element, std::string_view name) const {
  std::string path = where_ + "[" + std::to_string(element) + "]";
  if (!name.empty()) path += "." + redacted_line(name, most_of_a_name, options_.tokens.get());
  return path;
}

}  // namespace tradingdata::detail
