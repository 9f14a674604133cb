// Exact sums of amounts. Amounts are decimals such as 11993.60, which doubles only approximate, so
// adding doubles drifts. They are scaled to integers of 128 bits, in units of a power of ten. What
// does not fit is an error, never a rounded sum.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#if defined(_MSC_VER) && !defined(__clang__)
#include <__msvc_int128.hpp>
#endif

namespace tradingdata {

#if defined(_MSC_VER) && !defined(__clang__)
using int128 = std::_Signed128;
using uint128 = std::_Unsigned128;
#else
__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;
#endif

namespace detail {

// Two amounts below it have a sum that 128 bits hold.
inline constexpr int128 largest_amount = int128{1} << 125;
inline constexpr int128 one_word = int128{1} << 62;

[[noreturn]] inline void refuse_amounts() {
  throw std::overflow_error(
      "amounts are too large, or have too many decimals, to be added exactly: leave out the rows "
      "with unusual amounts");
}

inline int128 checked(int128 amount) {
  if (amount > largest_amount || amount < -largest_amount) refuse_amounts();
  return amount;
}

constexpr int128 magnitude(int128 value) {
  return value < 0 ? -value : value;
}

}  // namespace detail

inline int128 sum_of(int128 a, int128 b) {
  return detail::checked(a + b);
}

inline int128 product_of(int128 a, int128 b) {
  const int128 left = detail::magnitude(a);
  const int128 right = detail::magnitude(b);
  const bool fits = left < detail::one_word && right < detail::one_word;
  if (!fits && right != 0 && left > detail::largest_amount / right) detail::refuse_amounts();
  return a * b;
}

// The number of decimals that holds every value exactly: 2, 4 or 6, or more if needed. `so_far` is
// the result for other values that are to have the same unit.
int decimals_of(std::span<const double> values, int so_far = 0);

// The values as multiples of 10^-decimals, where `decimals` is at least what `decimals_of` returns.
std::vector<int128> in_units(std::span<const double> values, int decimals);

// value * part / total, rounded to the nearest unit, halves upward. A value is split into
// differences of such shares, so that the parts add up to it.
int128 share_of(int128 value, std::int64_t part, std::int64_t total);

}  // namespace tradingdata
