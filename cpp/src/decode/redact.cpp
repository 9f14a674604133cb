// Text fit for an error: what is personal in a body is hidden even where the body was never
// decoded.
#include <algorithm>
#include <string>

#include "decode/decode.hpp"
#include "table/records.hpp"

namespace tradingdata {

namespace {

bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// A permanent account number's shape: five letters, four digits, a letter.
bool is_shaped_as_account_number(std::string_view text) {
  constexpr std::string_view shape = "aaaaa0000a";
  return text.size() >= shape.size() &&
         std::equal(shape.begin(), shape.end(), text.begin(),
                    [](char kind, char c) { return kind == 'a' ? is_letter(c) : is_digit(c); });
}

// The letter, digit or underscore that an escape such as \u0041 stands for, or 0.
char escaped_letter(std::string_view text) {
  constexpr std::string_view lead = "\\u00";
  if (text.size() < 6 || text.substr(0, 4) != lead) return 0;
  const auto is_hex = [](char c) { return is_digit(c) || (is_letter(c) && (c | 0x20) <= 'f'); };
  if (!is_hex(text[4]) || !is_hex(text[5])) return 0;
  const std::string plain = unescaped(text.data(), text.data() + 6);
  const char letter = plain.front();
  return is_letter(letter) || is_digit(letter) || letter == '_' ? letter : char{0};
}

// So much of the text as `wanted` bytes need, with escaped letters as themselves: an escaped key or
// account number must not pass for another text.
std::string plainly_spelled(std::string_view body, std::size_t wanted) {
  std::string plain;
  for (std::size_t i = 0; i < body.size() && plain.size() < wanted;) {
    const bool escape = body[i] == '\\' && i + 1 < body.size();
    if (const char letter = escape ? escaped_letter(body.substr(i)) : char{0}; letter != 0) {
      plain += letter;
      i += 6;
    } else {
      plain.append(body.substr(i, escape ? 2 : 1));  // both halves: the second may be a backslash
      i += escape ? 2 : 1;
    }
  }
  return plain;
}

// The length of a key with its colon where `text` begins with that of a personal field, or 0.
std::size_t personal_key(std::string_view text) {
  for (const Schema* schema : record_schemas) {
    for (const Field& field : schema->fields) {
      const std::string_view name = field.name;
      if (!field.personal || text.substr(1, name.size()) != name) continue;
      std::size_t at = name.size() + 1;
      if (at >= text.size() || text[at++] != '"') continue;
      while (at < text.size() && is_blank(text[at])) ++at;
      if (at < text.size() && text[at] == ':') return at + 1;
    }
  }
  return 0;
}

// The length of the JSON value at the beginning of a text that may be cut or malformed anywhere.
std::size_t value_length(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth-- == 0) return i;
    } else if (c == ',' && depth == 0) {
      return i;
    }
  }
  return text.size();
}

void hide_personal(std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (const std::size_t key = rest.front() == '"' ? personal_key(rest) : 0; key != 0) {
      const auto from = text.begin() + static_cast<std::ptrdiff_t>(i + key);
      const auto size = static_cast<std::ptrdiff_t>(value_length(rest.substr(key)));
      const auto shown = [](char c) {
        return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
      };
      std::replace_if(from, from + size, shown, 'X');
      i += key - 1;
    } else if (is_shaped_as_account_number(rest)) {
      hide_account_number(text.data() + i);
    }
  }
}

}  // namespace

std::string redacted_head(std::string_view body, std::int64_t limit) {
  constexpr std::size_t lookahead = 4096;  // for a key or a number that begins inside the limit
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(limit, 0));
  std::string text = plainly_spelled(body, wanted + lookahead);
  hide_personal(text);
  std::string head;
  std::size_t i = 0;
  while (i < text.size() && head.size() < wanted) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const Utf8Scan character = scan_utf8(text.c_str() + i);
    if (character.length == 0 || byte == 0x7F || (byte < 0x20 && byte != '\n' && byte != '\t')) {
      head += character.length == 0 ? "\xEF\xBF\xBD" : " ";
      ++i;
      continue;
    }
    head.append(text, i, static_cast<std::size_t>(character.length));
    i += static_cast<std::size_t>(character.length);
  }
  if (i < text.size()) head += "...";
  return head;
}

std::string redacted_line(std::string_view text, std::int64_t limit) {
  std::string line = redacted_head(text, limit);
  std::replace_if(
      line.begin(), line.end(), [](char letter) { return letter == '\n' || letter == '\t'; }, ' ');
  return line;
}

}  // namespace tradingdata
