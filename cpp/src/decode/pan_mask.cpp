// Overwrites account numbers and tokens in place.
#include "decode/pan_mask.hpp"

#include <algorithm>
#include <cstring>

#include "privacy/personal.hpp"

namespace tradingdata::detail {

namespace {

// The body is a Buffer, which a Document only reads.
char* writable(const char* place) {
  return const_cast<char*>(place);
}

// A number stays a number, which may not begin with 0.
void hide_digits(const char* from, const char* to) {
  std::replace_if(writable(from), writable(to), is_digit, '1');
}

// Too short for a token that is searched for.
bool is_short(const char* from, const char* to) {
  return to - from < std::ptrdiff_t{TokenSearch::shortest};
}

}  // namespace

const char* PanMask::pass_undocumented(const char* at, int depth, bool personal) {
  const char* const end = body_.pass_value(at, depth);
  hide_in_field(personal, at, end);
  hide_tokens(at, end);
  return end;
}

void PanMask::hide_text(const char* from, const char* to) {
  mask(writable(from), static_cast<std::size_t>(to - from));
}

void PanMask::hide_value(const char* from, const char* to) const {
  for (const char* at = from; at != to; ++at) {
    if (*at == '"') {
      const char* const end = body_.scan_text(at).end;
      hide_text(at + 1, end);
      at = end;
    } else {
      hide_digits(at, at + 1);
    }
  }
}

// In valid JSON, text before a colon is a key, and all other text is a value: one pass suffices,
// however deeply it is nested.
void PanMask::hide_members(const char* from, const char* to) const {
  for (;;) {
    from = static_cast<const char*>(std::memchr(from, '"', static_cast<std::size_t>(to - from)));
    if (from == nullptr) return;
    const char* const name = from + 1;
    const StringScan text = body_.scan_text(from);
    from = body_.pass_space(text.end + 1);
    if (*from != ':') continue;
    const bool personal = text.escaped ? is_personal_name(unescaped(name, text.end))
                                       : is_personal_name({name, text.end});
    if (!personal) continue;
    const char* const value = body_.pass_space(from + 1);
    from = body_.pass_value(value, 0);  // its depth was checked before
    hide_value(value, from);
  }
}

// A piece of a token is overwritten alone where nothing is escaped, and otherwise with all of the
// text, which thus remains JSON.
bool PanMask::hide_tokens_in_text(const char* from, const char* to) {
  if (tokens_ == nullptr || is_short(from, to)) return false;
  const std::string text(from, to);
  std::string hidden = tokens_->scrubbed(text);
  if (hidden == text) return false;
  if (hidden.size() < text.size() || text.find('\\') != std::string::npos) {
    hidden = TokenSearch::mark;
    hidden.resize(text.size(), TokenSearch::filler);
  }
  hidden.copy(writable(from), text.size());
  ++tokens_->overwritten;
  return true;
}

// Text by text, and number by number: a token never spans several values.
void PanMask::hide_tokens(const char* from, const char* to) {
  if (tokens_ == nullptr || is_short(from, to)) return;
  while (from != to) {
    if (*from == '"') {
      const char* const end = body_.scan_text(from).end;
      hide_tokens_in_text(from + 1, end);
      from = end + 1;
    } else if (*from == '-' || is_digit(*from)) {
      const char* const end = body_.pass_number(from);
      const std::string_view number(from, end);
      if (!is_short(from, end) && tokens_->scrubbed(number) != number) {
        hide_digits(from, end);
        ++tokens_->overwritten;
      }
      from = end;
    } else {
      ++from;
    }
  }
}

}  // namespace tradingdata::detail
