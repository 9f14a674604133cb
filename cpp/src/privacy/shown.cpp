// Redacts text that is shown. It works on text that may be cut or malformed anywhere, so it relies
// on no parser.
#include "privacy/shown.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "privacy/personal.hpp"
#include "privacy/tokens.hpp"

namespace tradingdata {

namespace {

// Text beyond this is neither searched nor shown. As much as the longest token.
constexpr std::size_t most_examined = 64 * 1024;

bool is_value_character(char c) {
  return is_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80;
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

void hide_personal(std::string& text, bool to_the_end) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_with_account_number(std::string_view(text).substr(i))) {
      mask(&text[i], account_number_size);
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
