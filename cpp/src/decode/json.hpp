// The grammar of JSON: where values begin and end. Every byte that is passed is also validated.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/memory.hpp"
#include "base/number.hpp"
#include "base/simd.hpp"
#include "base/text.hpp"

namespace tradingdata::detail {

inline bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// A body that is being parsed. Each pass_... takes the place where something must be, and returns
// the place after it or throws. The body's padding is zeros, which no part of the grammar accepts,
// so that parsing stops at the end without a check at every byte.
class Document {
 public:
  // Places in a body are held in 32 bits.
  static constexpr std::int64_t greatest_size = std::numeric_limits<std::int32_t>::max();
  static constexpr int greatest_depth = 1023;  // 1,024 nested values are refused

  Document() = default;  // of a body that has not begun to arrive
  explicit Document(const Buffer& body) : Document(body.data(), body.size(), body.size(), true) {}
  // The first `size` bytes of a body, behind which there must be padding. The rest may still be on
  // its way: about `expected` bytes in all.
  Document(const char* begin, std::int64_t size, std::int64_t expected, bool complete)
      : begin_(begin), end_(begin + size), expected_(expected), complete_(complete) {}

  const char* begin() const { return begin_; }
  const char* end() const { return end_; }
  std::string_view view() const { return {begin_, static_cast<std::size_t>(end_ - begin_)}; }
  std::int64_t size() const { return end_ - begin_; }
  std::int64_t expected_size() const { return expected_; }
  bool complete() const { return complete_; }
  std::int64_t offset_of(const char* place) const { return place - begin_; }

  const char* pass_space(const char* at) const {
    return static_cast<unsigned char>(*at) <= ' ' ? pass_spaces(at) : at;
  }
  const char* pass_bom(const char* at) const;

  // Passes `wanted` and the space on both of its sides.
  const char* pass_mark(const char* at, char wanted) const {
    at = pass_space(at);
    if (*at != wanted) [[unlikely]]
      fail_expecting(at, wanted);
    return pass_space(at + 1);
  }

  // Passes the opening bracket at `at`, which then points to the first element; returns false, with
  // `at` past the end, where there is none.
  bool pass_opening(const char*& at, char close) const {
    at = pass_space(at + 1);
    if (*at != close) return true;
    ++at;
    return false;
  }

  // Passes what follows an element of an array or object that ends in `close`: a comma, with `at`
  // then at the next element; or the end, and returns false.
  bool pass_separator(const char*& at, char close) const {
    at = pass_space(at);
    if (*at == ',') [[likely]] {
      at = pass_space(at + 1);
      return true;
    }
    if (*at != close) [[unlikely]]
      fail_at_separator(at, close);
    ++at;
    return false;
  }

  // The string at a quote, which is valid: its content ends at `end`.
  StringScan scan_text(const char* quote) const;
  const char* pass_number(const char* at) const {
    const ShortNumber number = scan_short_number(at);
    const bool ends_here = number.end != nullptr && number.end != end_;
    return ends_here ? number.end : pass_long_number(at);
  }

  // Passes any value; `depth` values enclose it.
  const char* pass_value(const char* at, int depth) const {
    return *at == '{' || *at == '[' ? pass_nested(at, depth) : pass_scalar(at);
  }

  // Nothing but space may follow.
  void pass_end(const char* at) const;

  // Error(decode) at a place of the body.
  Error error(const char* place, std::string_view problem) const;
  [[noreturn]] void fail(const char* place, std::string_view problem) const;
  [[noreturn]] void fail_at_separator(const char* at, char close) const;

 private:
  static const char* pass_spaces(const char* at);
  // The string at what should be a quote; short plain text takes a few instructions.
  StringScan pass_text(const char* quote) const {
    const char* const end = quote + 1 + plain_length(quote + 1);
    return *quote == '"' && *end == '"' ? StringScan{.end = end} : scan_text(quote);
  }
  const char* pass_scalar(const char* at) const;
  const char* pass_nested(const char* at, int depth) const;
  const char* pass_key(const char* at) const;
  const char* pass_long_number(const char* at) const;
  const char* pass_word(const char* at) const;
  [[noreturn]] void fail_expecting(const char* at, char wanted) const;

  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  std::int64_t expected_ = 0;
  bool complete_ = true;
};

// The same error for the value at a JSON path.
Error at_path(const Error& error, std::string_view path);

// A JSON value of any type, as the slow path of the column writers reads it.
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

// A key and value of an object, for code that is not time-critical: what the fast parser does not
// store is found again by parsing a record once more.
struct Pair {
  const char* from;  // the brace or the space and comma before the key
  const char* key;   // its opening quote
  StringScan scan;   // of the key
  const char* value;

  std::string name() const { return unescaped(key + 1, scan.end); }
};

// Calls visit(pair) for each pair, before its value is passed, until that is false.
template <typename Visit>
void visit_pairs(const Document& body, const char* object, int depth, Visit visit) {
  const char* from = object;
  const char* at = object;
  if (!body.pass_opening(at, '}')) return;
  do {
    Pair pair{.from = from, .key = at, .scan = body.scan_text(at), .value = nullptr};
    pair.value = body.pass_mark(pair.scan.end + 1, ':');
    if (!visit(pair)) return;
    at = from = body.pass_value(pair.value, depth);
  } while (body.pass_separator(at, '}'));
}

}  // namespace tradingdata::detail
