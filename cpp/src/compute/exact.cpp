// Scales doubles by the shortest decimal that denotes each: the amount as the service sent it.
#include "compute/exact.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/number.hpp"

namespace tradingdata {

namespace {

constexpr std::array usual_decimals{2, 4, 6};
constexpr double exact_limit = 1e15;  // decimals of up to 15 digits have different nearest doubles
constexpr double without_fraction = 0x1.8p52;

double power_of_ten(int exponent) {
  double power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// Whether one of the usual scales holds the value; `units` is then its multiple.
bool holds(double value, double scale, double& units) {
  if (!(std::fabs(value) * scale < exact_limit)) return false;
  // Rounds to an integer, since a double of this size has no fraction; std::nearbyint is a call.
  units = (value * scale + without_fraction) - without_fraction;
  return units / scale == value;
}

// The shortest decimal that denotes a double.
NumberScan shortest(double value) {
  char text[32] = {};  // zeros end the number
  std::to_chars(text, text + sizeof text - 1, value, std::chars_format::scientific);
  return scan_number(text);
}

// The decimals of a value as Python writes it: at least one, unless it is written with an exponent.
int decimals_needed(double value) {
  constexpr int written_with_exponent = 16;
  const NumberScan decimal = shortest(value);
  if (decimal.exponent < 0) return static_cast<int>(-decimal.exponent);
  return std::fabs(value) < power_of_ten(written_with_exponent) ? 1 : 0;
}

bool all_hold(std::span<const double> values, int decimals) {
  const double scale = power_of_ten(decimals);
  double units = 0;
  return std::ranges::all_of(values, [&](double value) { return holds(value, scale, units); });
}

}  // namespace

int decimals_of(std::span<const double> values, int so_far) {
  for (const int decimals : usual_decimals) {
    if (all_hold(values, decimals)) return std::max(so_far, decimals);
  }
  int most = so_far;
  for (const double value : values) most = std::max(most, decimals_needed(value));
  return most;
}

std::vector<int128> in_units(std::span<const double> values, int decimals) {
  const bool usual = decimals <= usual_decimals.back();
  const double scale = usual ? power_of_ten(decimals) : 0;
  std::vector<int128> result;
  result.reserve(values.size());
  for (const double value : values) {
    double units = 0;
    if (usual && holds(value, scale, units)) {
      result.push_back(static_cast<std::int64_t>(units));
      continue;
    }
    const NumberScan decimal = shortest(value);
    int128 exact = decimal.digits;
    const std::int64_t shift = decimal.exponent + decimals;
    for (std::int64_t i = shift; i > 0 && exact != 0; --i) exact = product_of(exact, 10);
    for (std::int64_t i = shift; i < 0; ++i) exact /= 10;
    result.push_back(detail::checked(decimal.negative ? -exact : exact));
  }
  return result;
}

namespace {

template <typename Integer>
Integer rounded_down(Integer dividend, Integer divisor) {
  const Integer quotient = dividend / divisor;
  return quotient * divisor > dividend ? quotient - 1 : quotient;  // below zero too
}

}  // namespace

int128 share_of(int128 value, std::int64_t part, std::int64_t total) {
  const int128 doubled = sum_of(product_of(value, 2 * int128{part}), total);
  const int128 divisor = 2 * int128{total};
  if (detail::magnitude(doubled) < detail::one_word && divisor < detail::one_word) {
    return rounded_down(static_cast<std::int64_t>(doubled), static_cast<std::int64_t>(divisor));
  }
  return rounded_down(doubled, divisor);
}

}  // namespace tradingdata
