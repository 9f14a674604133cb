// Collects issues, one for each field and problem, and removes those of a record that is read
// again because it had not arrived completely.
#include "decode/issue_log.hpp"

#include "decode/personal/redact.hpp"
#include "table/personal.hpp"

namespace tradingdata::detail {

namespace {

constexpr std::int64_t most_raw = 64;         // bytes of a value shown in an issue
constexpr std::int64_t most_of_a_name = 100;  // bytes of an unknown name shown in a path

}  // namespace

std::string issue_text(std::string_view raw, TokenSearch* tokens) {
  return redacted_line(raw, most_raw, tokens);
}

Notes::Notes(const Document& body, TableBuilder& table, const DecodeOptions& options,
             std::string_view where)
    : body_(body), table_(table), options_(options), where_(where) {}

void Notes::note(int field, Problem problem, std::int64_t row, const char* place,
                 std::string_view raw) {
  const Field& noted = table_.table().schema().field(field);
  const int index = field * problem_count + static_cast<int>(problem);
  if (of_field_.empty()) {  // most books have nothing to note
    of_field_.resize(
        table_.table().schema().fields.size() * static_cast<std::size_t>(problem_count), -1);
  }
  count(of_field_, static_cast<std::size_t>(index), noted.name, problem, row,
        noted.personal() ? std::string_view() : raw);
  refuse_if_strict(noted.name, problem, row, place);
}

void Notes::note_repeated(std::int32_t extra, std::int64_t row, std::string_view lost) {
  const auto place = static_cast<std::size_t>(extra);
  if (place >= of_extra_.size()) of_extra_.resize(place + 1, -1);
  const std::string& name = table_.table().extra_names()[place];
  count(of_extra_, place, name, Problem::repeated_key, row,
        is_personal_name(name) ? std::string_view() : lost);
  refuse_if_strict(name, Problem::repeated_key, row, lost.data());
}

void Notes::count(std::vector<std::int32_t>& index, std::size_t place, std::string_view name,
                  Problem problem, std::int64_t row, std::string_view raw) {
  auto& issues = table_.issues();
  if (index[place] < 0) {
    index[place] = static_cast<std::int32_t>(issues.size());
    issues.push_back(
        Issue{std::string(name), problem, 0, row, issue_text(raw, options_.tokens.get())});
  }
  ++issues[static_cast<std::size_t>(index[place])].count;
  if (!body_.complete()) counted_.push_back(static_cast<std::size_t>(index[place]));
}

void Notes::roll_back() {
  auto& issues = table_.issues();
  for (const std::size_t issue : counted_) --issues[issue].count;
  counted_.clear();
  // Those that the record was the first of are the last ones.
  while (!issues.empty() && issues.back().count == 0) issues.pop_back();
  for (auto* const index : {&of_field_, &of_extra_}) {
    for (std::int32_t& issue : *index) {
      if (issue >= static_cast<std::int32_t>(issues.size())) issue = -1;
    }
  }
  if (!was_refused_) refusal_.reset();
}

void Notes::refuse_if_strict(std::string_view name, Problem problem, std::int64_t row,
                             const char* place) {
  if (!options_.strict || refusal_ || !describe(problem).lost) return;
  refuse(place, std::string(describe(problem).text) + " (strict)", path_of(row, name));
}

void Notes::refuse(const char* place, std::string_view problem, const std::string& path) {
  if (!refusal_) refusal_ = at_path(body_.error(place, problem), path);
}

std::string Notes::path_of(std::int64_t element, std::string_view name) const {
  std::string path = where_ + "[" + std::to_string(element) + "]";
  if (!name.empty()) path += "." + redacted_line(name, most_of_a_name, options_.tokens.get());
  return path;
}

}  // namespace tradingdata::detail
