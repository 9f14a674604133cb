// Masks personal values, and tokens outside the documented fields, in the body that is being
// decoded, without changing their length: places in the body stay valid, and the body remains JSON
// that decodes to the same table. Masking twice changes nothing more, so a body that is read again
// needs no undoing.
#pragma once

#include "decode/json.hpp"
#include "privacy/tokens.hpp"

namespace tradingdata::detail {

class PanMask {
 public:
  // The body's memory must be writable. `tokens` may be null.
  PanMask(const Document& body, bool active, TokenSearch* tokens = nullptr)
      : body_(body), active_(active), tokens_(tokens) {}

  bool active() const { return active_; }

  // Masks a personal text without its quotes, escapes included.
  static void hide_text(const char* from, const char* to);

  // Masks a personal value, or the personal members of another field's value at any depth.
  void hide_in_field(bool personal, const char* from, const char* to) const {
    if (!active_) return;
    if (personal) {
      hide_value(from, to);
    } else if (*from == '{' || *from == '[') {
      hide_members(from, to);
    }
  }

  // Passes a value that the service does not document, and hides what has to be hidden in it.
  const char* pass_undocumented(const char* at, int depth, bool personal);

  // Writes `<token>` and a filler over each token in a value that the service does not document.
  void hide_tokens(const char* from, const char* to);
  // The same in a text without its quotes; true if there was one.
  bool hide_tokens_in_text(const char* from, const char* to);

 private:
  void hide_value(const char* from, const char* to) const;
  void hide_members(const char* from, const char* to) const;

  const Document& body_;
  bool active_;
  TokenSearch* tokens_;
};

}  // namespace tradingdata::detail
