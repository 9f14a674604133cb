// Masks personal values in the body that is being decoded without changing their length, so that
// places in the body stay valid, and the body remains JSON that decodes to the same table.
#pragma once

#include <optional>
#include <string>

#include "decode/json_grammar.hpp"
#include "decode/json_value.hpp"

namespace tradingdata::detail {

class PanMask {
 public:
  // `writable` is the beginning of the body, or null where personal values are kept.
  PanMask(const Document& body, char* writable) : body_(body), begin_(writable) {}

  bool active() const { return begin_ != nullptr; }
  char* writable(const char* place) const { return begin_ + body_.offset_of(place); }

  // Masks a personal value. Returns the text that it now is, or nothing where it is null or one
  // digit.
  std::optional<std::string> hide(const Literal& value) const;

  // Masks a personal value, or the personal members of another field's value at any depth.
  // Returns where the value ends now; blanks fill the rest.
  const char* hide_in_field(bool personal, const char* from, const char* to) const {
    if (!active()) return to;
    if (personal) return hide_value(from);
    if (*from == '{' || *from == '[') hide_members(from, to);
    return to;
  }

 private:
  const char* hide_value(const char* from) const;
  void hide_members(const char* from, const char* to) const;

  const Document& body_;
  char* begin_;
};

}  // namespace tradingdata::detail
