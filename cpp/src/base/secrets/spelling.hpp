// Text whose characters may be escaped, as JSON, URLs and HTML do it, also one escape inside
// another: a secret is looked for behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tradingdata {

// A text of which one layer of escapes after another is resolved, and the place in the original
// that each of its characters came from. Escapes of other characters than printable ASCII stay.
class Spelling {
 public:
  // As a web page that quotes JSON that quotes a URL.
  static constexpr int most_layers = 3;

  explicit Spelling(std::string_view original);

  std::string_view text() const { return text_; }
  // The place in the original where a character begins; of `text().size()`, the original's end.
  std::size_t origin(std::size_t at) const { return origins_[at]; }
  std::size_t length_of(std::size_t at) const { return origins_[at + 1] - origins_[at]; }

  // Resolves the outermost layer that is left; false where there is none.
  bool resolve();

 private:
  std::string text_;
  std::vector<std::uint32_t> origins_;  // one more than characters
};

}  // namespace tradingdata
