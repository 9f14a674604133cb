// Recognises one escape at a time.
#include "base/secrets/spelling.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text/ascii.hpp"

namespace tradingdata {

namespace {

struct Escape {
  char character;
  std::size_t length;  // of its spelling
};

// The references that a token or a key may need.
constexpr std::array<std::pair<std::string_view, char>, 8> named_references{{
    {"&amp;", '&'},
    {"&lt;", '<'},
    {"&gt;", '>'},
    {"&quot;", '"'},
    {"&apos;", '\''},
    {"&plus;", '+'},
    {"&equals;", '='},
    {"&sol;", '/'},
}};

// An escape of `least` to `most` digits after `lead` characters.
std::optional<Escape> numeric(std::string_view text, std::size_t lead, int base, std::size_t least,
                              std::size_t most) {
  constexpr std::int64_t beyond = 0x110000;
  std::int64_t code = 0;
  std::size_t at = lead;
  for (; at < std::min(lead + most, text.size()); ++at) {
    const int digit = hex_digit(text[at]);
    if (digit < 0 || digit >= base) break;
    code = std::min(code * base + digit, beyond);
  }
  if (at < lead + least || code < 0x20 || code > 0x7E) return std::nullopt;
  return Escape{static_cast<char>(code), at};
}

std::optional<Escape> json_escape(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  if (text[1] == 'u') return numeric(text, 2, 16, 4, 4);
  const bool itself = text[1] == '"' || text[1] == '\\' || text[1] == '/';
  return itself ? std::optional(Escape{text[1], 2}) : std::nullopt;
}

std::optional<Escape> html_reference(std::string_view text) {
  constexpr std::size_t most_digits = 32;  // leading zeros are allowed
  if (text.starts_with("&#")) {
    const bool hex = text.size() > 2 && lower(text[2]) == 'x';
    std::optional<Escape> escape =
        hex ? numeric(text, 3, 16, 1, most_digits) : numeric(text, 2, 10, 1, most_digits);
    if (escape && text.substr(escape->length).starts_with(';')) ++escape->length;
    return escape;
  }
  for (const auto& [reference, character] : named_references) {
    if (text.starts_with(reference)) return Escape{character, reference.size()};
  }
  return std::nullopt;
}

std::optional<Escape> escape_at(std::string_view text) {
  switch (text.front()) {
    case '\\': return json_escape(text);
    case '%': return numeric(text, 1, 16, 2, 2);
    case '&': return html_reference(text);
    default: return std::nullopt;
  }
}

}  // namespace

Spelling::Spelling(std::string_view original) : text_(original), origins_(original.size() + 1) {
  for (std::size_t i = 0; i <= original.size(); ++i) origins_[i] = static_cast<std::uint32_t>(i);
}

bool Spelling::resolve() {
  std::size_t left = 0;
  std::size_t i = 0;
  while (i < text_.size()) {
    const std::optional<Escape> escape = escape_at(std::string_view(text_).substr(i));
    text_[left] = escape ? escape->character : text_[i];
    origins_[left++] = origins_[i];
    i += escape ? escape->length : 1;
  }
  origins_[left] = origins_[i];
  const bool resolved = left < text_.size();
  text_.resize(left);
  origins_.resize(left + 1);
  return resolved;
}

}  // namespace tradingdata
