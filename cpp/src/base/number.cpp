// The uncommon cases of number parsing: exponents, literals of more than 19 digits and correct
// rounding. The common case is in number.hpp.
#include "base/number.hpp"

// Apple's C++ library reads doubles from macOS 26 on, LLVM's from version 20. The portable build
// tests what replaces it.
#if defined(TRADINGDATA_PLAIN) || \
    (defined(__APPLE__) && __ENVIRONMENT_MAC_OS_X_VERSION_MIN_REQUIRED__ < 260000)
#include <locale.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include <cmath>
#define TRADINGDATA_STRTOD
#endif

namespace tradingdata {

namespace {

#ifdef TRADINGDATA_STRTOD
// Made when the library is loaded: a lazily made one could be locked by another thread at a fork.
const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);

std::errc read_double(std::string_view literal, double& value) {
  const double nearest = strtod_l(std::string(literal).c_str(), nullptr, c_locale);
  if (std::isinf(nearest) || nearest == 0) return std::errc::result_out_of_range;
  value = nearest;
  return {};
}
#else
std::errc read_double(std::string_view literal, double& value) {
  return std::from_chars(literal.data(), literal.data() + literal.size(), value).ec;
}
#endif

constexpr int most_digits = 19;  // always fit 64 bits
// Beyond what any number of digits could compensate, and far from overflow.
constexpr std::int64_t exponent_cap = 1'000'000'000'000;

// Written without an exponent, and with nothing but zeros behind the point.
bool is_whole(std::string_view literal) {
  if (literal.find_first_of("eE") != std::string_view::npos) return false;
  const std::size_t point = literal.find('.');
  return point == std::string_view::npos ||
         literal.find_first_not_of('0', point + 1) == std::string_view::npos;
}

// Whether an integer, as written before a point, is exactly this double.
bool is_digits_of(double value, std::string_view literal) {
  char digits[512];
  const auto [end, error] =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, 0);
  return error == std::errc() &&
         literal.substr(0, literal.find('.')) == std::string_view(digits, end);
}

}  // namespace

namespace detail {

// Passes an exponent, from its letter; nullptr, with the fault noted, where it has no digits.
const char* read_exponent(const char* at, NumberScan& scan) {
  ++at;
  const bool negative = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  if (!is_digit(*at)) {
    scan.fault = at;
    return nullptr;
  }
  scan.integral = false;
  std::int64_t value = 0;
  for (; is_digit(*at); ++at) {
    if (value < exponent_cap) value = value * 10 + (*at - '0');
  }
  scan.exponent += negative ? -value : value;
  return at;
}

// Counts the digits of a long literal again: only those from the first that is not zero matter, and
// those that 64 bits cannot hold move into the exponent; nothing is lost where they are zeros.
void recount_long(const char* from, NumberScan& scan) {
  scan.digits = 0;
  int kept = 0;
  for (const char* at = from; is_digit(*at) || *at == '.'; ++at) {
    if (*at == '.' || (kept == 0 && *at == '0')) continue;
    if (kept == most_digits) {
      if (*at != '0') scan.exact = false;
      ++scan.exponent;
    } else {
      scan.digits = scan.digits * 10 + static_cast<std::uint64_t>(*at - '0');
      ++kept;
    }
  }
}

}  // namespace detail

std::optional<std::int64_t> integer_of(const NumberScan& scan) {
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

std::optional<double> exact_double(std::int64_t integer) {
  constexpr double limit = 9223372036854775808.0;  // to which the greatest integers round
  const auto nearest = static_cast<double>(integer);
  const bool exact = nearest < limit && static_cast<std::int64_t>(nearest) == integer;
  return exact ? std::optional(nearest) : std::nullopt;
}

NumberFit double_of(const NumberScan& scan, std::string_view literal, double& value) {
  if (read_double(literal, value) == std::errc()) {
    constexpr std::uint64_t exact_integer = 1ULL << 53;  // beyond it not every integer is a double
    if (scan.exact && scan.digits <= exact_integer) return NumberFit::exact;
    return is_whole(literal) && !is_digits_of(value, literal) ? NumberFit::would_round
                                                              : NumberFit::exact;
  }
  // The standard gives one error for both ends of the range: the magnitude distinguishes them.
  if (scan.digits != 0 && scan.exponent >= 0) return NumberFit::out_of_range;
  value = scan.negative ? -0.0 : 0.0;
  return NumberFit::exact;
}

}  // namespace tradingdata
