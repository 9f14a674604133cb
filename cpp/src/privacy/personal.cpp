// Names and shapes of personal values, and how they are masked.
#include "privacy/personal.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.hpp"
#include "table/records.hpp"

namespace tradingdata {

namespace {

constexpr std::string_view marks = "_-. ";

// A permanent account number's shape: five letters, four digits, a letter.
constexpr std::string_view account_number = "aaaaa0000a";

bool is_mark(char c) {
  return marks.find(c) != std::string_view::npos;
}

// The length of a name at the beginning of a text, or 0 where the text begins differently.
std::size_t matched(std::string_view text, std::string_view name) {
  std::size_t at = 0;
  for (const char wanted : name) {
    if (is_mark(wanted)) continue;
    while (at > 0 && at < text.size() && is_mark(text[at])) ++at;
    if (at == text.size() || lower(text[at]) != lower(wanted)) return 0;
    ++at;
  }
  return at;
}

// Every unknown key of a body is compared with these, so the compiler searches the schemas for
// them.
constexpr auto personal_names = [] {
  std::array<std::string_view, 8> names{};
  auto* next = names.begin();
  for (const Schema* const schema : record_schemas) {
    for (const Field& field : schema->fields) {
      const bool known = std::ranges::find(names, field.name) != names.end();
      if (field.personal() && !known) *next++ = field.name;
    }
  }
  return names;
}();

}  // namespace

std::size_t personal_name_at(std::string_view text) {
  for (const std::string_view name : personal_names) {
    if (name.empty()) break;
    const std::size_t length = matched(text, name);
    if (length > 0 && (length == text.size() || !is_alphanumeric(text[length]))) return length;
  }
  return 0;
}

bool is_personal_name(std::string_view name) {
  name = trimmed(name, marks);
  return !name.empty() && personal_name_at(name) == name.size();
}

void mask(char* text, std::size_t size) {
  const bool account =
      size == account_number.size() && std::all_of(text, text + size, is_alphanumeric);
  const std::size_t shown = account ? 2 : 0;  // at either end
  std::memset(text + shown, 'X', size - 2 * shown);
}

std::string masked(std::string_view text) {
  std::string hidden(text);
  mask(hidden.data(), hidden.size());
  return hidden;
}

bool begins_with_account_number(std::string_view text) {
  return text.size() >= account_number.size() &&
         std::equal(account_number.begin(), account_number.end(), text.begin(),
                    [](char kind, char c) { return kind == 'a' ? is_letter(c) : is_digit(c); });
}

std::string without_account_numbers(std::string_view text) {
  std::string hidden(text);
  const std::size_t size = account_number.size();
  const auto ends_at = [&](std::size_t at) {
    return at >= text.size() || !is_alphanumeric(text[at]);
  };
  for (std::size_t i = 0; i + size <= text.size(); ++i) {
    const bool alone = (i == 0 || ends_at(i - 1)) && ends_at(i + size);
    if (alone && begins_with_account_number(text.substr(i))) mask(&hidden[i], size);
  }
  return hidden;
}

}  // namespace tradingdata
