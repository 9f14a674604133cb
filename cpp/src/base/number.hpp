// JSON numbers: their grammar, and their exact value as an integer or the nearest double.
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/simd.hpp"
#include "base/text.hpp"

namespace tradingdata {

// A number as the grammar sees it: value = (negative ? -1 : 1) * digits * 10^exponent, unless
// the literal has more digits than 64 bits hold: then `digits` are the first of them, and not
// `exact`.
struct NumberScan {
  const char* end = nullptr;  // after the number; nullptr: malformed at `fault`
  const char* fault = nullptr;
  std::uint64_t digits = 0;
  std::int64_t exponent = 0;
  bool negative = false;
  bool integral = true;  // written without a fraction or an exponent
  bool exact = true;
};

namespace detail {

// Reads a run of digits; the sum may overflow, which scan_number corrects afterwards.
inline const char* read_digits(const char* at, std::uint64_t& sum) {
  for (; is_digit(*at); ++at) sum = sum * 10 + static_cast<std::uint64_t>(*at - '0');
  return at;
}

const char* read_exponent(const char* at, NumberScan& scan);
void recount_long(const char* from, NumberScan& scan);

}  // namespace detail

// Scans a number from its first character. The text must end in a byte that is not part of one.
inline NumberScan scan_number(const char* from) {
  constexpr std::ptrdiff_t always_exact = 19;  // this many digits always fit 64 bits
  NumberScan scan;
  scan.negative = *from == '-';
  const char* const first = from + (scan.negative ? 1 : 0);
  const char* at = detail::read_digits(first, scan.digits);
  if (at == first || (*first == '0' && at - first > 1)) {
    scan.fault = at == first ? at : first + 1;
    return scan;
  }
  if (*at == '.') {
    scan.integral = false;
    const char* const fraction = at + 1;
    at = detail::read_digits(fraction, scan.digits);
    scan.exponent = fraction - at;
    if (at == fraction) {
      scan.fault = at;
      return scan;
    }
  }
  const std::ptrdiff_t length = at - first;
  if (*at == 'e' || *at == 'E') at = detail::read_exponent(at, scan);
  if (length > always_exact && at != nullptr) detail::recount_long(first, scan);
  scan.end = at;
  return scan;
}

// The integer that a literal denotes, also as 5.0 or 5e0; none if it is not one of 64 bits.
std::optional<std::int64_t> integer_of(const NumberScan& scan);

// The shortest digits that denote a number.
template <typename Value>
std::string digits_of(Value value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  return {digits, end};
}

// The double that is exactly this integer; none where there is no such double.
std::optional<double> exact_double(std::int64_t integer);

enum class NumberFit : std::uint8_t { exact, out_of_range, would_round };

// The double nearest to the literal, correctly rounded; 1e-999 is 0. An integer that is no double
// "would round", also as 9007199254740993.0: it is an identifier or a count, and its neighbour
// would be a wrong value.
NumberFit double_of(const NumberScan& scan, std::string_view literal, double& value);

}  // namespace tradingdata

namespace tradingdata::detail {

// Numbers as prices and quantities are written: a few digits, a point, a few more. Read without a
// loop, since their lengths vary from cell to cell and a mispredicted branch costs more. The value
// is digits / 10^decimals. Numbers with a sign are read by scan_number.
struct ShortNumber {
  static constexpr unsigned most_digits = 8;  // on either side of the point
  // Together: the mask of digits must also show the point and the byte behind the number.
  static constexpr unsigned most_together = digit_mask_bytes - 2;

  const char* end;  // nullptr: not in this form; the number may still be valid
  std::uint64_t digits;
  unsigned decimals;
};

inline constexpr std::uint64_t short_powers[] = {1,       10,        100,        1'000,      10'000,
                                                 100'000, 1'000'000, 10'000'000, 100'000'000};
inline constexpr double short_powers_as_doubles[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};

// The value of 1 to 8 digits; the bytes after them do not matter.
TRADINGDATA_INLINE std::uint64_t eight_digits(const char* text, unsigned count) {
  std::uint64_t word = load_word(text);
  word = (word ^ 0x3030303030303030) << (64 - 8 * count);  // leading zeros take the missing places
  word = word * 10 + (word >> 8);                          // pairs, in every second byte
  constexpr std::uint64_t pairs = 0x000000FF000000FF;
  const std::uint64_t high = (word & pairs) * (100 + (1'000'000ULL << 32));
  const std::uint64_t low = (word >> 16 & pairs) * (1 + (10'000ULL << 32));
  return (high + low) >> 32;
}

// Reads up to 32 bytes from `text` on, whatever the number's length.
TRADINGDATA_INLINE ShortNumber scan_short_number(const char* text) {
  constexpr ShortNumber none{nullptr, 0, 0};
  if constexpr (std::endian::native != std::endian::little) return none;
  const std::uint32_t others = other_than_digits(text);
  const auto whole = static_cast<unsigned>(std::countr_zero(others));
  const bool leading_zero = *text == '0' && whole != 1;
  if (whole - 1 >= ShortNumber::most_digits || leading_zero) return none;  // also where it is 0
  ShortNumber number{text + whole, 0, 0};
  // Columns that never change mostly have one digit, so this branch is predicted well.
  number.digits = whole == 1 ? static_cast<std::uint64_t>(*text - '0') : eight_digits(text, whole);
  if (*number.end == '.') {
    const std::uint32_t behind = others & (others - 1);
    const auto length = static_cast<unsigned>(std::countr_zero(behind));
    number.decimals = length - whole - 1;
    // 0 and too many at once; and where the block ends inside the number, there are too many.
    if (number.decimals - 1 >= ShortNumber::most_digits) return none;
    number.digits = number.digits * short_powers[number.decimals] +
                    eight_digits(number.end + 1, number.decimals);
    number.end = text + length;
  }
  if ((*number.end | 0x20) == 'e') return none;
  return number;
}

// Both operands are exact, so the one rounding is the correct one (Clinger). Two sides of 8 digits
// would not be: it is the mask that excludes them.
TRADINGDATA_INLINE double value_of(const ShortNumber& number) {
  static_assert(ShortNumber::most_together <= std::numeric_limits<double>::digits10);
  return static_cast<double>(static_cast<std::int64_t>(number.digits)) /
         short_powers_as_doubles[number.decimals];
}

}  // namespace tradingdata::detail
