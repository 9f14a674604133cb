// The names and the shape of personal values, and the redaction of text that is shown.
#include "decode/redact.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

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

class Redaction {
 public:
  explicit Redaction(std::string_view original)
      : original_(original), fates_(original.size(), Fate::shown), spelling_(original) {}

  void examine(TokenSearch* tokens) {
    hide_marks();
    if (tokens != nullptr) {
      tokens->find(original_, [this](std::size_t from, std::size_t to) { hide_token(from, to); });
    }
    int layers = 0;
    do {
      hide_account_numbers();
      hide_personal_values();
    } while (layers++ < Spelling::most_layers && spelling_.resolve());
  }

  // Writes what fits in `limit` bytes and returns whether that is all.
  bool write(std::string& head, std::size_t limit) const {
    std::size_t i = 0;
    while (i < original_.size()) {
      const Shown next = shown_at(i);
      if (head.size() + next.text.size() > limit) return false;
      head += next.text;
      i = next.end;
    }
    return true;
  }

 private:
  enum class Fate : std::uint8_t { shown, masked, dropped, token };

  // However long the spelling of a character is, its mask is one X.
  void mask_character(std::size_t at) {
    Fate fate = Fate::masked;
    for (std::size_t i = spelling_.origin(at); i < spelling_.origin(at + 1); ++i) {
      fates_[i] = std::max(fates_[i], std::exchange(fate, Fate::dropped));
    }
  }

  void hide_token(std::size_t from, std::size_t to) {
    std::fill(fates_.begin() + static_cast<std::ptrdiff_t>(from),
              fates_.begin() + static_cast<std::ptrdiff_t>(to), Fate::token);
  }

  // Tokens that were overwritten in the body before.
  void hide_marks() {
    for (std::size_t at = 0; (at = original_.find(TokenSearch::mark, at)) != std::string::npos;) {
      const std::size_t from = at;
      at = original_.find_first_not_of(TokenSearch::filler, at + TokenSearch::mark.size());
      at = std::min(at, original_.size());
      hide_token(from, at);
    }
  }

  void hide_account_numbers() {
    const std::string_view text = spelling_.text();
    for (std::size_t i = 0; i + account_number_length <= text.size(); ++i) {
      if (!is_shaped_as_account_number(text.substr(i))) continue;
      for (std::size_t j = i + 2; j < i + account_number_length - 2; ++j) mask_character(j);
    }
  }

  void hide_personal_values() {
    const std::string_view text = spelling_.text();
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!is_letter(text[i]) || (i > 0 && is_alphanumeric(text[i - 1]))) continue;
      const std::size_t length = personal_name_at(text.substr(i));
      if (length == 0) continue;
      i += length;
      const std::size_t value = value_behind(i);
      if (value == 0) continue;
      const std::size_t end = value_end(value);
      for (i = value; i < end; ++i) {
        if (is_value_character(text[i])) mask_character(i);
      }
    }
  }

  // Where the value of a key that ends at a place begins, in JSON, HTML, headers and the like; 0
  // if what follows is not a value.
  std::size_t value_behind(std::size_t at) const {
    const std::string_view text = spelling_.text();
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

  // The end of a value, in a text that may be cut or malformed anywhere.
  std::size_t value_end(std::size_t begin) const {
    const std::string_view text = spelling_.text();
    if (begin == text.size()) return begin;
    if (is_quote(text[begin])) return quoted_end(begin);
    int open = 0;
    std::size_t i = begin;
    while (i < text.size()) {
      const char c = text[i];
      if (c == '"') {
        i = quoted_end(i);
        continue;
      }
      if (c == '{' || c == '[') ++open;
      if ((c == '}' || c == ']') && open-- <= 1) return open < 0 ? i : i + 1;
      if (open == 0 && std::string_view(",;&<)\n").find(c) != std::string_view::npos) return i;
      ++i;
    }
    return i;
  }

  // Past the quote that closes the one at `begin`; one with a longer spelling was escaped deeper
  // and does not close it.
  std::size_t quoted_end(std::size_t begin) const {
    const std::string_view text = spelling_.text();
    for (std::size_t i = begin + 1; i < text.size(); ++i) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == text[begin] && spelling_.length_of(i) <= spelling_.length_of(begin)) {
        return i + 1;
      }
    }
    return text.size();
  }

  struct Shown {
    std::string_view text;
    std::size_t end;  // of what it is shown for
  };

  Shown shown_at(std::size_t at) const {
    switch (fates_[at]) {
      case Fate::masked: return {"X", at + 1};
      case Fate::dropped: return {"", at + 1};
      case Fate::token: {
        const auto from = fates_.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = std::find_if(from, fates_.end(), [](Fate f) { return f != Fate::token; });
        return {TokenSearch::mark, static_cast<std::size_t>(end - fates_.begin())};
      }
      case Fate::shown: break;
    }
    const auto byte = static_cast<unsigned char>(original_[at]);
    const Utf8Scan character = scan_utf8(original_.c_str() + at);
    const auto length = static_cast<std::size_t>(character.length);
    if (length == 0) return {"\xEF\xBF\xBD", at + 1};
    if (byte == 0x7F || (byte < 0x20 && byte != '\n' && byte != '\t')) return {" ", at + 1};
    return {std::string_view(original_).substr(at, length), at + length};
  }

  std::string original_;
  std::vector<Fate> fates_;  // of each byte; the later ones take precedence
  Spelling spelling_;
};

}  // namespace

std::string redacted_head(std::string_view text, std::int64_t limit, TokenSearch* tokens) {
  Redaction redaction(text.substr(0, most_examined));
  redaction.examine(tokens);
  std::string head;
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(limit, 0));
  if (!redaction.write(head, wanted) || text.size() > most_examined) head += "...";
  return head;
}

std::string redacted_line(std::string_view text, std::int64_t limit, TokenSearch* tokens) {
  std::string line = redacted_head(text, limit, tokens);
  std::replace_if(
      line.begin(), line.end(), [](char letter) { return letter == '\n' || letter == '\t'; }, ' ');
  return line;
}

}  // namespace tradingdata
