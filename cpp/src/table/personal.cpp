// The names and the shape of personal values.
#include "table/personal.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text/ascii.hpp"
#include "table/records.hpp"

namespace tradingdata {

namespace {

constexpr std::string_view marks = "_-. ";

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
  struct {
    std::array<std::string_view, 8> names{};
    std::size_t count = 0;
  } found;
  for (const Schema* const schema : record_schemas) {
    for (const Field& field : schema->fields) {
      auto* const end = found.names.data() + found.count;
      if (field.personal() && std::find(found.names.data(), end, field.name) == end) {
        found.names[found.count++] = field.name;
      }
    }
  }
  return found;
}();

}  // namespace

std::size_t personal_name_at(std::string_view text) {
  for (std::size_t i = 0; i < personal_names.count; ++i) {
    const std::size_t length = matched(text, personal_names.names[i]);
    if (length > 0 && (length == text.size() || !is_alphanumeric(text[length]))) return length;
  }
  return 0;
}

bool is_personal_name(std::string_view name) {
  while (!name.empty() && is_mark(name.front())) name.remove_prefix(1);
  while (!name.empty() && is_mark(name.back())) name.remove_suffix(1);
  return !name.empty() && personal_name_at(name) == name.size();
}

bool is_account_number(const char* text) {
  static constexpr auto plain = [] {
    std::array<bool, 256> table{};
    for (int c = 0; c < 256; ++c) {
      table[static_cast<std::size_t>(c)] = is_alphanumeric(static_cast<char>(c));
    }
    return table;
  }();
  bool all = true;
  for (int i = 0; i < account_number_length; ++i) all &= plain[static_cast<unsigned char>(text[i])];
  return all;
}

void hide_account_number(char* text) {
  std::memset(text + 2, 'X', account_number_length - 4);
}

std::string masked(std::string_view text) {
  if (text.size() == account_number_length && is_account_number(text.data())) {
    std::string hidden(text);
    hide_account_number(hidden.data());
    return hidden;
  }
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // not within a character of UTF-8
  });
  return std::string(static_cast<std::size_t>(characters), 'X');
}

}  // namespace tradingdata
