// Refusals, and the paths of the values that they are about.
#include "decode/issues.hpp"

#include "privacy/shown.hpp"

namespace tradingdata::detail {

namespace {

constexpr std::int64_t most_of_a_name = 100;  // bytes of an unknown name shown in a path

}  // namespace

IssueLog::IssueLog(const Document& body, TableBuilder& table, const DecodeOptions& options,
                   std::string_view where)
    : body_(body),
      table_(table),
      options_(options),
      where_(where),
      counts_(table, options.tokens.get()) {}

void IssueLog::note(int field, Problem problem, std::int64_t row, const char* place,
                    std::string_view raw) {
  counts_.add(field, problem, row, [&] { return raw; });
  refuse_if_strict(table_.table().schema().field(field).name, problem, row, place);
}

void IssueLog::note_repeated(std::int32_t extra, std::int64_t row, std::string_view lost) {
  counts_.add_unknown(extra, Problem::repeated_key, row, [&] { return lost; });
  const std::string& name = table_.table().extra_names()[static_cast<std::size_t>(extra)];
  refuse_if_strict(name, Problem::repeated_key, row, lost.data());
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
