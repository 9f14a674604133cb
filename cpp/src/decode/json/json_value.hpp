// A JSON value of any type, as the slow path of the column writers reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "decode/json/json_grammar.hpp"

namespace tradingdata::detail {

struct Literal {
  enum class Type : std::uint8_t { null, text, number, other };

  Type type;
  const char* from;         // the complete value, including quotes
  const char* to;           // past its end
  std::string_view text{};  // the content of a text, unescaped; the digits of a number
  bool escaped = false;
  bool damaged = false;  // half a surrogate pair is in it

  std::string_view raw() const { return {from, static_cast<std::size_t>(to - from)}; }
};

// The value at `at`, which `depth` values enclose; `scratch` holds the text that had escapes.
Literal read_literal(const Document& body, const char* at, int depth, std::string& scratch);

}  // namespace tradingdata::detail
