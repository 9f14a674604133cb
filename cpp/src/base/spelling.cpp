// Recognises one escape at a time. Errors echo a token in JSON inside HTML inside a URL, so text
// is resolved one layer after another.
#include "base/spelling.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/ascii.hpp"

namespace tradingdata {

namespace {

struct Named {
  std::string_view name;
  char character;
};

// The references that HTML has names for and that a token or a key may need.
constexpr std::array named_references{
    Named{"amp;", '&'},    Named{"lt;", '<'},     Named{"gt;", '>'},     Named{"quot;", '"'},
    Named{"apos;", '\''},  Named{"plus;", '+'},   Named{"equals;", '='}, Named{"sol;", '/'},
    Named{"bsol;", '\\'},  Named{"colon;", ':'},  Named{"period;", '.'}, Named{"lowbar;", '_'},
    Named{"percnt;", '%'}, Named{"commat;", '@'}, Named{"num;", '#'},    Named{"shy;", '\0'},
};

constexpr std::int64_t printable_from = 0x20;
constexpr std::int64_t printable_to = 0x7E;

// Characters that split a word for a search and not for a reader: controls that are no space, the
// soft hyphen, and spaces of no width.
bool is_invisible(std::int64_t code) {
  if (code < printable_from) return code != '\t' && code != '\n' && code != '\r';
  return code == 0x7F || code == 0xAD || (code >= 0x200B && code <= 0x200F) || code == 0x2060 ||
         code == 0xFEFF;
}

std::optional<Escape> escape_of(std::int64_t code, std::size_t length) {
  if (is_invisible(code)) return Escape{'\0', length};
  if (code < printable_from || code > printable_to) return std::nullopt;
  return Escape{static_cast<char>(code), length};
}

struct Digits {
  std::int64_t value = 0;
  std::size_t count = 0;
};

// The digits of a base at the beginning of a text, up to `most` of them.
Digits read_digits(std::string_view text, int base, std::size_t most) {
  Digits digits;
  for (; digits.count < std::min(most, text.size()); ++digits.count) {
    const int digit = hex_digit(text[digits.count]);
    if (digit < 0 || digit >= base) break;
    digits.value = std::min<std::int64_t>(digits.value * base + digit, 0x110000);
  }
  return digits;
}

// An escape of exactly `count` digits after `lead` characters.
std::optional<Escape> fixed(std::string_view text, std::size_t lead, int base, std::size_t count) {
  const Digits digits = read_digits(text.substr(lead), base, count);
  if (digits.count != count) return std::nullopt;
  return escape_of(digits.value, lead + count);
}

std::optional<Escape> backslash_escape(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  switch (text[1]) {
    case 'u':
      if (text.size() > 2 && text[2] == '{') {
        const Digits digits = read_digits(text.substr(3), 16, 8);
        const std::size_t end = 3 + digits.count;
        if (digits.count == 0 || end >= text.size() || text[end] != '}') return std::nullopt;
        return escape_of(digits.value, end + 1);
      }
      return fixed(text, 2, 16, 4);
    case 'U': return fixed(text, 2, 16, 8);
    case 'x': return fixed(text, 2, 16, 2);
    default: break;
  }
  if (is_digit(text[1])) return fixed(text, 1, 8, 3);
  const bool punctuation = text[1] > ' ' && text[1] <= printable_to && !is_letter(text[1]);
  return punctuation ? std::optional(Escape{text[1], 2}) : std::nullopt;
}

std::optional<Escape> percent_escape(std::string_view text) {
  if (text.size() > 1 && (text[1] | 0x20) == 'u') return fixed(text, 2, 16, 4);
  return fixed(text, 1, 16, 2);
}

std::optional<Escape> html_reference(std::string_view text) {
  constexpr std::size_t most_digits = 32;  // leading zeros are allowed
  if (text.size() > 2 && text[1] == '#') {
    const bool hex = (text[2] | 0x20) == 'x';
    const std::size_t lead = hex ? 3 : 2;
    const Digits digits = read_digits(text.substr(lead), hex ? 16 : 10, most_digits);
    if (digits.count == 0) return std::nullopt;
    const std::size_t end = lead + digits.count;
    const bool closed = end < text.size() && text[end] == ';';
    return escape_of(digits.value, end + (closed ? 1 : 0));
  }
  if (text.size() < 2 || !is_letter(text[1])) return std::nullopt;  // most ampersands are text
  for (const Named& reference : named_references) {
    if (text.substr(1).starts_with(reference.name)) {
      return Escape{reference.character, 1 + reference.name.size()};
    }
  }
  return std::nullopt;
}

// An invisible character, spelled as itself.
std::optional<Escape> unseen(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x80) return is_invisible(byte) ? std::optional(Escape{'\0', 1}) : std::nullopt;
  for (const std::string_view spelled :
       {"\xC2\xAD", "\xE2\x80\x8B", "\xE2\x80\x8C", "\xE2\x80\x8D", "\xE2\x80\x8E", "\xE2\x80\x8F",
        "\xE2\x81\xA0", "\xEF\xBB\xBF"}) {
    if (text.starts_with(spelled)) return Escape{'\0', spelled.size()};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Escape> escape_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  switch (rest.front()) {
    case '\\': return backslash_escape(rest);
    case '%': return percent_escape(rest);
    case '&': return html_reference(rest);
    default: return unseen(rest);
  }
}

Spelling::Spelling(std::string_view original)
    : text_(original), origins_(original.size() + 1), depths_(original.size()) {
  for (std::size_t i = 0; i <= original.size(); ++i) origins_[i] = static_cast<std::uint32_t>(i);
}

bool Spelling::resolve() {
  std::size_t left = 0;
  std::size_t i = 0;
  bool resolved = false;
  while (i < text_.size()) {
    const std::optional<Escape> escape = escape_at(text_, i);
    const std::size_t length = escape ? escape->length : 1;
    if (!escape || escape->character != '\0') {
      const auto deepest = *std::max_element(&depths_[i], &depths_[i] + length);
      const bool deeper = escape && deepest < std::numeric_limits<std::uint8_t>::max();
      text_[left] = escape ? escape->character : text_[i];
      origins_[left] = origins_[i];
      depths_[left] = static_cast<std::uint8_t>(deepest + (deeper ? 1 : 0));
      ++left;
    }
    resolved = resolved || escape;
    i += length;
  }
  origins_[left] = origins_[i];
  text_.resize(left);
  origins_.resize(left + 1);
  depths_.resize(left);
  return resolved;
}

}  // namespace tradingdata
