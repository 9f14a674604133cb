#include "tradingdata/number.hpp"

#include <charconv>
#include <limits>

namespace tradingdata {

namespace {

constexpr int most_digits = 19;                      // always fit 64 bits
constexpr std::uint64_t exact_integer = 1ULL << 53;  // beyond it doubles are not dense
constexpr int exact_power = 22;                      // 10^22 is the last exact power of ten
constexpr std::int64_t exponent_cap = 1'000'000;     // keeps sums of exponents far from overflow

constexpr double powers_of_ten[exact_power + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads a run of digits into the scan; they count as significant from the first that is not zero.
const char* read_digits(const char* at, NumberScan& scan, int& significant) {
  for (; is_digit(*at); ++at) {
    if (significant == 0 && *at == '0') continue;
    if (++significant > most_digits) {
      scan.exact = false;
      ++scan.exponent;
      continue;
    }
    scan.digits = scan.digits * 10 + static_cast<std::uint64_t>(*at - '0');
  }
  return at;
}

const char* read_exponent(const char* at, NumberScan& scan) {
  ++at;  // e or E
  const bool negative = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  if (!is_digit(*at)) return nullptr;
  std::int64_t value = 0;
  for (; is_digit(*at); ++at) {
    if (value < exponent_cap) value = value * 10 + (*at - '0');
  }
  scan.exponent += negative ? -value : value;
  return at;
}

NumberScan malformed(NumberScan scan, const char* at) {
  scan.fault = at;
  return scan;
}

}  // namespace

NumberScan scan_number(const char* from) {
  NumberScan scan;
  const char* at = from;
  int significant = 0;
  if (*at == '-') {
    scan.negative = true;
    ++at;
  }
  if (!is_digit(*at)) return malformed(scan, at);
  if (*at == '0') {
    ++at;
    if (is_digit(*at)) return malformed(scan, at);  // a leading zero
  } else {
    at = read_digits(at, scan, significant);
  }
  if (*at == '.') {
    scan.integral = false;
    const char* const fraction = ++at;
    if (!is_digit(*at)) return malformed(scan, at);
    at = read_digits(at, scan, significant);
    scan.exponent -= at - fraction;
  }
  if (*at == 'e' || *at == 'E') {
    scan.integral = false;
    const char* const behind = read_exponent(at, scan);
    if (behind == nullptr) return malformed(scan, at + 1);
    at = behind;
  }
  scan.end = at;
  return scan;
}

std::optional<std::int64_t> integer_of(const NumberScan& scan, std::string_view literal) {
  if (scan.integral && !scan.exact) {
    std::int64_t value = 0;  // a long literal: 19 or more digits, which may still fit
    const auto [end, error] =
        std::from_chars(literal.data(), literal.data() + literal.size(), value);
    if (error != std::errc()) return std::nullopt;
    return value;
  }
  if (!scan.exact) return std::nullopt;
  std::uint64_t digits = scan.digits;
  std::int64_t exponent = scan.exponent;
  for (; exponent < 0 && digits != 0; ++exponent) {
    if (digits % 10 != 0) return std::nullopt;
    digits /= 10;
  }
  for (; exponent > 0 && digits != 0; --exponent) {
    if (digits > std::numeric_limits<std::uint64_t>::max() / 10) return std::nullopt;
    digits *= 10;
  }
  constexpr auto greatest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (digits > greatest + (scan.negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(scan.negative ? 0 - digits : digits);
}

NumberFit double_of(const NumberScan& scan, std::string_view literal, double& value) {
  if (scan.integral && (!scan.exact || scan.digits > exact_integer)) return NumberFit::would_round;
  if (scan.exact && scan.digits <= exact_integer && scan.exponent >= -exact_power &&
      scan.exponent <= exact_power) {
    // Both operands are exact, so the one rounding is the correct one (Clinger).
    const auto digits = static_cast<double>(scan.digits);
    const double size = scan.exponent < 0 ? digits / powers_of_ten[-scan.exponent]
                                          : digits * powers_of_ten[scan.exponent];
    value = scan.negative ? -size : size;
    return NumberFit::exact;
  }
  const auto [end, error] = std::from_chars(literal.data(), literal.data() + literal.size(), value);
  if (error == std::errc()) return NumberFit::exact;
  // The standard gives one error for both ends of the range: tell them apart by the magnitude.
  const bool tiny = scan.digits == 0 || scan.exponent < 0;
  if (!tiny) return NumberFit::out_of_range;
  value = scan.negative ? -0.0 : 0.0;
  return NumberFit::exact;
}

}  // namespace tradingdata
