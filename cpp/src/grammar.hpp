// JSON's grammar: where values begin and end. Every byte that is skipped is validated too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tradingdata/buffer.hpp"
#include "tradingdata/error.hpp"
#include "tradingdata/text.hpp"

namespace tradingdata::detail {

// The place in a body that a walk has reached. The body's padding is zeros, which no part of the
// grammar accepts, so that a walk stops at the end without asking for it at every byte.
class Cursor {
 public:
  static constexpr int greatest_depth = 1024;

  explicit Cursor(const Buffer& body)
      : begin_(body.data()), end_(body.data() + body.size()), at(body.data()) {}

  const char* begin() const { return begin_; }
  const char* end() const { return end_; }
  std::int64_t offset_of(const char* place) const { return place - begin_; }

  bool is_space() const {
    return *at == ' ' || *at == '\n' || *at == '\r' || *at == '\t';
  }
  void skip_space() {
    if (static_cast<unsigned char>(*at) <= ' ') skip_spaces();
  }

  // Passes `wanted`, after any space, or fails.
  void expect(char wanted) {
    skip_space();
    if (*at != wanted) [[unlikely]] fail_expecting(wanted);
    ++at;
  }

  // Whether another element follows in an array or object that ends in `close`; passes the comma or
  // the end.
  bool next(char close) {
    skip_space();
    if (*at == ',') [[likely]] {
      ++at;
      skip_space();
      return true;
    }
    if (*at == close) [[likely]] {
      ++at;
      return false;
    }
    fail_at_separator(close);
  }

  void skip_bom();
  void skip_literal(std::string_view literal);
  // Passes a string, from its opening quote; true where it has escapes.
  bool skip_string();
  void skip_number();
  // Passes any value; `depth` values enclose it.
  void skip_value(int depth);
  // Nothing but space may follow.
  void expect_end();

  // Error(decode) at a place of the body.
  [[noreturn]] void fail(const char* place, std::string_view problem) const;
  [[noreturn]] void fail(const StringScan& scan) const;

 private:
  void skip_spaces();
  [[noreturn]] void fail_expecting(char wanted) const;
  [[noreturn]] void fail_at_separator(char close) const;

  const char* begin_;
  const char* end_;

 public:
  const char* at;
};

// The same error, said of the value at a JSON path.
Error at_path(const Error& error, std::string_view path);

}  // namespace tradingdata::detail
