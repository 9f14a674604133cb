// Overwrites account numbers in place, padding with blanks, so that no offset into the body
// changes.
#include "decode/pan_mask.hpp"

#include <algorithm>
#include <cstring>

#include "decode/redact.hpp"

namespace tradingdata::detail {

namespace {

// Overwrites a value; blanks fill the rest of its place, so that the JSON stays valid.
void overwrite(char* place, std::size_t size, std::string_view with) {
  const std::size_t count = std::min(size, with.size());
  std::fill(std::copy_n(with.begin(), count, place), place + size, ' ');
}

}  // namespace

void PanMask::undo_changes() {
  for (auto original = originals_.rbegin(); original != originals_.rend(); ++original) {
    original->text.copy(begin_ + original->offset, original->text.size());
  }
  originals_.clear();
  hidden_tokens_ = kept_tokens_;
}

std::optional<std::string> PanMask::hide(const Literal& value) {
  const std::size_t size = value.raw().size();
  std::optional<std::string> hidden;
  if (value.type == Literal::Type::text && !value.damaged) {
    hidden = masked(value.text);
  } else if (value.type == Literal::Type::number && size > 2) {
    hidden = std::string(size - 2, 'X');  // and two quotes
  }
  overwrite(overwritable(value.from, size), size,
            hidden     ? '"' + *hidden + '"'
            : size < 4 ? "0"
                       : "null");
  return hidden;
}

const char* PanMask::hide_value(const char* from) {
  constexpr int depth = 0;  // it was validated before
  std::string scratch;
  const Literal value = read_literal(body_, from, depth, scratch);
  hide(value);
  const char* end = value.to;
  while (end[-1] == ' ') --end;
  return end;
}

// In valid JSON, text before a colon is a key, and all other text is a value: one pass suffices,
// however deeply it is nested.
void PanMask::hide_members(const char* from, const char* to) {
  for (;;) {
    from = static_cast<const char*>(std::memchr(from, '"', static_cast<std::size_t>(to - from)));
    if (from == nullptr) return;
    const char* const name = from + 1;
    const StringScan text = body_.scan_text(from);
    from = body_.pass_space(text.end + 1);
    if (*from != ':') continue;
    const bool personal = text.escaped ? is_personal_name(unescaped(name, text.end))
                                       : is_personal_name({name, text.end});
    if (personal) from = hide_value(body_.pass_space(from + 1));
  }
}

// A piece of a token is overwritten alone where nothing is escaped, and otherwise with all of the
// text, which thus remains JSON.
bool PanMask::hide_tokens_in_text(const char* from, const char* to) {
  if (tokens_ == nullptr) return false;
  const std::string text(from, to);
  std::string hidden = tokens_->scrubbed(text);
  if (hidden == text) return false;
  if (hidden.size() < text.size() || text.find('\\') != std::string::npos) {
    hidden = TokenSearch::mark;
    hidden.resize(text.size(), TokenSearch::filler);
  }
  hidden.copy(overwritable(from, text.size()), text.size());
  ++hidden_tokens_;
  return true;
}

// Text by text, and number by number: a token never spans several values.
void PanMask::hide_tokens(const char* from, const char* to) {
  constexpr std::string_view separators = ",:[]{} \t\r\n";
  while (tokens_ != nullptr && from != to) {
    if (*from == '"') {
      const char* const end = body_.scan_text(from).end;
      hide_tokens_in_text(from + 1, end);
      from = end + 1;
    } else if (separators.find(*from) != std::string_view::npos) {
      ++from;
    } else {
      const char* const end = std::find_first_of(from, to, separators.begin(), separators.end());
      if (hide_tokens_in_text(from, end)) {
        const auto size = static_cast<std::size_t>(end - from);
        overwrite(overwritable(from, size), size,
                  '"' + std::string(size - 2, TokenSearch::filler) + '"');
      }
      from = end;
    }
  }
}

}  // namespace tradingdata::detail
