#include <algorithm>
#include <array>

#include "tradingdata/decode.hpp"

namespace tradingdata {

namespace {

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A permanent account number's shape: five letters, four digits, a letter.
bool is_account_number(std::string_view text) {
  constexpr std::string_view shape = "aaaaa0000a";
  return text.size() >= shape.size() &&
         std::equal(shape.begin(), shape.end(), text.begin(), [](char kind, char c) {
           return kind == 'a' ? is_letter(c) : is_digit(c);
         });
}

}  // namespace

std::string redacted_head(std::string_view body, std::int64_t limit) {
  constexpr std::size_t account_number_length = 10;
  std::string head;
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(limit, 0));
  std::size_t i = 0;
  while (i < body.size() && head.size() < wanted) {
    if (is_account_number(body.substr(i))) {
      head += masked(body.substr(i, account_number_length));
      i += account_number_length;
      continue;
    }
    const auto byte = static_cast<unsigned char>(body[i]);
    const std::string_view rest = body.substr(i);
    std::array<char, 4> sequence{};  // padded: the text may end inside a character
    rest.substr(0, 4).copy(sequence.data(), 4);
    const int length = byte < 0x80 ? 1 : utf8_sequence(sequence.data());
    if (length == 0 || byte == 0x7F || (byte < 0x20 && byte != '\n' && byte != '\t')) {
      head += length == 0 ? "\xEF\xBF\xBD" : " ";
      ++i;
      continue;
    }
    head += rest.substr(0, static_cast<std::size_t>(length));
    i += static_cast<std::size_t>(length);
  }
  if (i < body.size()) head += "...";
  return head;
}

}  // namespace tradingdata
