// Text whose characters may be escaped: as JSON, URLs, HTML or source code do it, also one escape
// inside another. A secret is looked for in every layer, since each of them can be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tradingdata {

struct Escape {
  char character;      // printable ASCII; NUL for one that a reader does not see
  std::size_t length;  // of its spelling
};

// The escape at a place of a text, if one begins there: \u002B \x2B \053 \/ %2B %u002B &#43; &#x2B;
// &plus; and their like. Other characters than printable ASCII are left as they are spelled.
std::optional<Escape> escape_at(std::string_view text, std::size_t at);

// A text of which one layer of escapes after another is resolved, and the place in the original
// that each of its characters came from.
class Spelling {
 public:
  // Nobody escapes text more often than this; text with more layers is not shown at all.
  static constexpr int most_layers = 16;

  explicit Spelling(std::string_view original);

  std::string_view text() const { return text_; }
  // The place in the original where a character begins; of `text().size()`, the original's end.
  std::size_t origin(std::size_t at) const { return origins_[at]; }
  // How many layers of escapes a character was under: a quote ends only what began as deep.
  int depth(std::size_t at) const { return depths_[at]; }

  // Resolves the outermost layer that is left; false where there is none.
  bool resolve();

 private:
  std::string text_;
  std::vector<std::uint32_t> origins_;  // one more than characters
  std::vector<std::uint8_t> depths_;
};

}  // namespace tradingdata
