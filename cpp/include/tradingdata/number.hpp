// JSON numbers: their grammar, and their exact value as an integer or the nearest double.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tradingdata {

// What the grammar tells of a number: value = (negative ? -1 : 1) * digits * 10^exponent, where
// `digits` holds all of them (`exact`) or the literal is too long for 64 bits.
struct NumberScan {
  const char* end = nullptr;  // behind the number; nullptr: malformed at `fault`
  const char* fault = nullptr;
  std::uint64_t digits = 0;
  std::int64_t exponent = 0;
  bool negative = false;
  bool integral = true;  // written without a fraction or an exponent
  bool exact = true;
};

// Scans a number from its first character. The text must end in a byte that is no part of one.
NumberScan scan_number(const char* from);

// The integer a literal stands for, also written 5.0 or 5e0; none where it is not one of 64 bits.
std::optional<std::int64_t> integer_of(const NumberScan& scan, std::string_view literal);

enum class NumberFit : std::uint8_t { exact, out_of_range, would_round };

// The double nearest to the literal, correctly rounded; 1e-999 is 0. An integer beyond 2^53 "would
// round": it is an identifier or a count, and its neighbour would be a wrong answer.
NumberFit double_of(const NumberScan& scan, std::string_view literal, double& value);

}  // namespace tradingdata
