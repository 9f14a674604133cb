// The JSON that a value of another library's table would be, so that the decoder's rules for values
// are the only ones.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "decode/arrow_arrays.hpp"
#include "decode/json.hpp"

namespace tradingdata::detail {

// Makes literals; one is valid until the next is made, and refers to the value of a text. `from`
// and `to` are not set: `json_of` writes its JSON.
class ArrowLiterals {
 public:
  // `as_day`: a time at midnight is written as a day alone.
  ArrowLiterals(const WireType& type, bool as_day) : type_(type), as_day_(as_day) {}

  // NaN is null. A whole number is written without a fraction, as a reader of CSV had it, unless 64
  // bits do not hold it.
  template <typename Value>
  Literal of(const Value& value) {
    if constexpr (std::is_same_v<Value, std::string_view>) {
      return literal(Literal::Type::text, value);
    } else if constexpr (std::is_same_v<Value, bool>) {
      return literal(Literal::Type::other, value ? "true" : "false");
    } else if constexpr (std::is_same_v<Value, Decimal>) {
      return literal(Literal::Type::number, value.digits);
    } else if constexpr (std::is_floating_point_v<Value>) {
      constexpr Value end_of_integers = 9223372036854775808.0;
      if (std::isnan(value)) return literal(Literal::Type::null, "null");
      if (std::isinf(value)) return literal(Literal::Type::number, value > 0 ? "1e999" : "-1e999");
      if (value == std::floor(value) && std::abs(value) < end_of_integers) {
        return number(static_cast<std::int64_t>(value));
      }
      return number(value);
    } else {
      const bool is_time = type_.wire == Wire::date32 || type_.per_second != 0;
      return is_time ? time(static_cast<std::int64_t>(value)) : number(value);
    }
  }

 private:
  static Literal literal(Literal::Type type, std::string_view text) {
    return {.type = type, .from = nullptr, .to = nullptr, .text = text};
  }
  template <typename Value>
  Literal number(Value value) {
    const auto [end, error] = std::to_chars(digits_, digits_ + sizeof digits_, value);
    return literal(Literal::Type::number, {digits_, static_cast<std::size_t>(end - digits_)});
  }
  // All digits of a time, and Z if it is an instant; the number of its units where no calendar has
  // it.
  Literal time(std::int64_t units);

  const WireType& type_;
  bool as_day_;
  char digits_[32];
  std::string text_;
};

std::string json_of(const Literal& literal);

}  // namespace tradingdata::detail
