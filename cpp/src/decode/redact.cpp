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

bool is_account_number(const char* text) {
  return std::all_of(text, text + account_number_length, is_alphanumeric);
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

// Redacts text that is shown. It works on text that may be cut or malformed anywhere, so it
// relies on no parser.

namespace {

// Text beyond this is neither searched nor shown. As much as the longest token.
constexpr std::size_t most_examined = 64 * 1024;

bool is_value_character(char c) {
  return is_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80;
}
bool is_quote(char c) {
  return c == '"' || c == '\'' || c == '`';
}

// A permanent account number's shape: five letters, four digits, a letter.
bool is_shaped_as_account_number(std::string_view text) {
  constexpr std::string_view shape = "aaaaa0000a";
  return text.size() >= shape.size() &&
         std::equal(shape.begin(), shape.end(), text.begin(),
                    [](char kind, char c) { return kind == 'a' ? is_letter(c) : is_digit(c); });
}

// Past the quote that closes the one at a place.
std::size_t quoted_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
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

std::size_t value_end(std::string_view text, std::size_t begin) {
  if (begin < text.size() && is_quote(text[begin])) return quoted_end(text, begin);
  int open = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') i = quoted_end(text, i) - 1;
    if (c == '{' || c == '[') ++open;
    if ((c == '}' || c == ']') && open-- <= 1) return open < 0 ? i : i + 1;
    if (open == 0 && std::string_view(",;&<)\n").find(c) != std::string_view::npos) return i;
  }
  return text.size();
}

void hide_personal(std::string& text, bool to_the_end) {
  for (std::size_t i = 0; i + account_number_length <= text.size(); ++i) {
    if (is_shaped_as_account_number(std::string_view(text).substr(i))) {
      hide_account_number(&text[i]);
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

// What is personal behind escapes is masked up to the end of the text: where a value ends is
// unclear once its own quotes are no longer escaped.
std::string without_personal(const std::string& text) {
  std::string shown = text;
  hide_personal(shown, false);
  std::string expected = shown;
  std::string layer = text;
  for (int i = 0; i < most_layers && resolve_escapes(layer); ++i) {
    std::string hidden = layer;
    hide_personal(hidden, false);
    resolve_escapes(expected);
    if (hidden == expected) continue;
    hide_personal(hidden, true);
    shown = expected = hidden;
  }
  return shown;
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
  const std::string shown = without_personal(known);
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(limit, 0));
  std::string head;
  std::size_t length = 0;
  for (std::size_t i = 0; i < shown.size(); i += std::max<std::size_t>(length, 1)) {
    const auto byte = static_cast<unsigned char>(shown[i]);
    const bool control = byte == 0x7F || (byte < 0x20 && byte != '\n' && byte != '\t');
    length = static_cast<std::size_t>(scan_utf8(shown.c_str() + i).length);
    const std::string_view next = length == 0 ? "\xEF\xBF\xBD"
                                  : control   ? " "
                                              : std::string_view(shown).substr(i, length);
    if (head.size() + next.size() > wanted) return head + "...";
    head += next;
  }
  return text.size() > most_examined ? head + "..." : head;
}

std::string redacted_line(std::string_view text, std::int64_t limit, TokenSearch* tokens) {
  std::string line = redacted_head(text, limit, tokens);
  std::replace_if(
      line.begin(), line.end(), [](char letter) { return letter == '\n' || letter == '\t'; }, ' ');
  return line;
}

}  // namespace tradingdata
