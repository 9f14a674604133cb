// The names and the shape of personal values, and the redaction of text that is shown.
#include "decode/redact.hpp"

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

// Redacts text that is shown. It works on text that may be cut or malformed anywhere, so it
// relies on no parser.

namespace {

// Text beyond this is neither searched nor shown. As much as the longest token.
constexpr std::size_t most_examined = 64 * 1024;

bool is_value_character(char c) {
  return is_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80;
}

bool begins_with_account_number(std::string_view text) {
  return text.size() >= account_number.size() &&
         std::equal(account_number.begin(), account_number.end(), text.begin(),
                    [](char kind, char c) { return kind == 'a' ? is_letter(c) : is_digit(c); });
}

// Where the value of a key that ends at a place begins, in JSON, HTML, headers and the like; 0 if
// what follows is not a value.
std::size_t value_behind(std::string_view text, std::size_t at) {
  const auto skip = [&](std::string_view characters) {
    at = std::min(text.find_first_not_of(characters, at), text.size());
  };
  skip("\"'`\\] \t\r\n");
  if (at == text.size() || std::string_view(":=>").find(text[at]) == std::string_view::npos) {
    return 0;
  }
  skip(":=> \t\r\n");
  return at;
}

// Where the value that begins at a place ends: behind its quotes or brackets, or before what
// separates it from the next one.
std::size_t value_end(std::string_view text, std::size_t begin) {
  char quote = 0;  // of the text that is open
  int depth = 0;   // of brackets
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
      if (quote == 0 && depth == 0) return i + 1;
    } else if (c == '"' || (i == begin && (c == '\'' || c == '`'))) {
      quote = c;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && depth-- <= 1) {
      return depth < 0 ? i : i + 1;
    } else if (depth == 0 && std::string_view(",;&<)\n").find(c) != std::string_view::npos) {
      return i;
    }
  }
  return text.size();
}

}  // namespace

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

namespace {

void hide_personal(std::string& text, bool to_the_end) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_with_account_number(std::string_view(text).substr(i))) {
      mask(&text[i], account_number.size());
    }
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t length = personal_name_at(std::string_view(text).substr(i));
    if (length == 0) continue;
    i += length;
    const std::size_t value = value_behind(text, i);
    if (value == 0) continue;
    const std::size_t end = to_the_end ? text.size() : value_end(text, value);
    for (i = value; i < end; ++i) {
      if (is_value_character(text[i])) text[i] = 'X';
    }
    --i;
  }
}

// A token that was overwritten in the body is shown as a mark alone.
void hide_filler(std::string& text) {
  constexpr auto mark = TokenSearch::mark;
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
    at += mark.size();
    text.erase(at, text.find_first_not_of(TokenSearch::filler, at) - at);
  }
}

}  // namespace

std::string redacted_head(std::string_view text, std::int64_t limit, TokenSearch* tokens) {
  const std::string_view examined = text.substr(0, most_examined);
  std::string known = tokens != nullptr ? tokens->scrubbed(examined) : std::string(examined);
  hide_filler(known);
  const std::string shown = hidden_in_layers(known, hide_personal);
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(limit, 0));
  std::string head;
  std::size_t length = 0;
  for (std::size_t i = 0; i < shown.size(); i += std::max<std::size_t>(length, 1)) {
    length = static_cast<std::size_t>(scan_utf8(shown.c_str() + i).length);
    const std::string_view next =
        length == 0 ? "\xEF\xBF\xBD" : std::string_view(shown).substr(i, length);
    if (head.size() + next.size() > wanted) return head + "...";
    head += next;
  }
  return text.size() > most_examined ? head + "..." : head;
}

std::string redacted_line(std::string_view text, std::int64_t limit, TokenSearch* tokens) {
  std::string line = redacted_head(text, limit, tokens);
  const auto parts_lines = [](char c) { return c == '\n' || c == '\r' || c == '\t'; };
  std::replace_if(line.begin(), line.end(), parts_lines, ' ');
  return line;
}

}  // namespace tradingdata
