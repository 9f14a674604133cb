// JSON numbers: their grammar, and their exact value as an integer or the nearest double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text/ascii.hpp"

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

// The double that is exactly this integer; none where there is no such double.
std::optional<double> exact_double(std::int64_t integer);

enum class NumberFit : std::uint8_t { exact, out_of_range, would_round };

// The double nearest to the literal, correctly rounded; 1e-999 is 0. An integer that is no double
// "would round", also as 9007199254740993.0: it is an identifier or a count, and its neighbour
// would be a wrong value.
NumberFit double_of(const NumberScan& scan, std::string_view literal, double& value);

}  // namespace tradingdata
