// Masks personal values, and tokens outside the documented fields, in the body that is being
// decoded, without changing their length: places in the body stay valid, and the body remains JSON
// that decodes to the same table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/secrets.hpp"
#include "decode/json.hpp"

namespace tradingdata::detail {

class PanMask {
 public:
  // `tokens` may be null.
  PanMask(const Document& body, bool active, TokenSearch* tokens = nullptr)
      : body_(body), active_(active), tokens_(tokens) {}

  bool active() const { return active_; }
  // Must be called before the first value, and when the body has moved.
  void bind(char* begin) { begin_ = begin; }

  // `size` bytes of the body that are to be written over.
  char* overwritable(const char* place, std::size_t size) {
    char* const at = begin_ + body_.offset_of(place);
    // Only a record that is cut short is ever read again.
    if (!body_.complete()) originals_.push_back({at - begin_, std::string(at, size)});
    return at;
  }
  void keep_changes() {
    originals_.clear();
    kept_tokens_ = hidden_tokens_;
  }
  void undo_changes();  // those since the last keep_changes

  // Masks a personal value. Returns the text that it now is, or nothing where it is null or one
  // digit.
  std::optional<std::string> hide(const Literal& value);

  // Masks a personal value, or the personal members of another field's value at any depth.
  // Returns where the value ends now; blanks fill the rest.
  const char* hide_in_field(bool personal, const char* from, const char* to) {
    if (!active()) return to;
    if (personal) return hide_value(from);
    if (*from == '{' || *from == '[') hide_members(from, to);
    return to;
  }

  // Writes `<token>` and a filler over each token in a value that the service does not document.
  void hide_tokens(const char* from, const char* to);
  // The same in a text without its quotes; true if there was one.
  bool hide_tokens_in_text(const char* from, const char* to);
  std::int64_t hidden_tokens() const { return hidden_tokens_; }

 private:
  struct Original {
    std::int64_t offset;
    std::string text;
  };

  const char* hide_value(const char* from);
  void hide_members(const char* from, const char* to);

  const Document& body_;
  char* begin_ = nullptr;
  bool active_;
  TokenSearch* tokens_;
  std::int64_t hidden_tokens_ = 0;
  std::int64_t kept_tokens_ = 0;
  std::vector<Original> originals_;
};

}  // namespace tradingdata::detail
