// Numbers as prices and quantities are written: a few digits, a point, a few more. Read without a
// loop, since their lengths vary from cell to cell and a wrong guess costs more than the work.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "simd.hpp"

namespace tradingdata::detail {

// The value is digits / 10^decimals, negated where `negative`.
struct ShortNumber {
  static constexpr int most_digits = 8;  // on either side of the point

  const char* end;  // nullptr: not this form, which says nothing against the number
  std::uint64_t digits;
  int decimals;
  bool negative;
};

inline constexpr std::uint64_t powers_of_ten_up_to_8[] = {
    1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};

// The value of 1 to 8 digits; what stands behind them does not matter.
inline std::uint64_t eight_digits(const char* text, int count) {
  std::uint64_t word;
  std::memcpy(&word, text, sizeof word);
  word = (word ^ 0x3030303030303030) << (64 - 8 * count);  // leading zeros take the missing places
  word = word * 10 + (word >> 8);                          // pairs, in every second byte
  constexpr std::uint64_t pairs = 0x000000FF000000FF;
  const std::uint64_t high = (word & pairs) * (100 + (1'000'000ULL << 32));
  const std::uint64_t low = (word >> 16 & pairs) * (1 + (10'000ULL << 32));
  return (high + low) >> 32;
}

// Reads 32 bytes from `text` on, whatever the number's length.
inline ShortNumber scan_short_number(const char* text) {
  constexpr ShortNumber none{nullptr, 0, 0, false};
  if constexpr (std::endian::native != std::endian::little) return none;
  const bool negative = *text == '-';
  const char* const first = text + (negative ? 1 : 0);
  const std::uint32_t others = other_than_digits(first) | 1u << 16;
  const int whole = std::countr_zero(others);
  const bool leading_zero = *first == '0' && whole > 1;
  if (whole == 0 || whole > ShortNumber::most_digits || leading_zero) return none;
  ShortNumber number{first + whole, eight_digits(first, whole), 0, negative};
  if (*number.end == '.') {
    const int point_and_decimals = std::countr_zero((others & (others - 1)) | 1u << 17) - whole;
    number.decimals = point_and_decimals - 1;
    const bool cut = whole + point_and_decimals >= 16;  // the block may end inside the number
    if (number.decimals == 0 || number.decimals > ShortNumber::most_digits || cut) return none;
    number.digits = number.digits * powers_of_ten_up_to_8[number.decimals] +
                    eight_digits(number.end + 1, number.decimals);
    number.end += point_and_decimals;
  }
  if ((*number.end | 0x20) == 'e') return none;
  return number;
}

// Both operands are exact, so the one rounding is the correct one (Clinger).
inline double value_of(const ShortNumber& number) {
  const double value = static_cast<double>(number.digits) /
                       static_cast<double>(powers_of_ten_up_to_8[number.decimals]);
  return number.negative ? -value : value;
}

}  // namespace tradingdata::detail
