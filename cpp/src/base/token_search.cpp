// Finds tokens by their pieces of six bytes, so that a token that is cut, split or escaped is
// found too, and overwrites them in a body while it arrives.
#include "base/token_search.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/ascii.hpp"
#include "base/simd.hpp"
#include "base/spelling.hpp"

namespace tradingdata {

namespace {

constexpr std::size_t shortest_kept = 8;
constexpr std::size_t longest_needed = 32;
constexpr std::ptrdiff_t fewest_different = 5;

bool can_hardly_be_data(std::string_view token) {
  std::array<bool, 256> seen{};
  for (const char c : token) seen[static_cast<unsigned char>(c)] = true;
  return token.size() >= shortest_kept &&
         std::count(seen.begin(), seen.end(), true) >= fewest_different &&
         !std::all_of(token.begin(), token.end(), is_digit);
}

// A bit for each of 16 bytes that may begin an escape.
std::uint32_t escapes_in_16(const char* text) {
#ifdef TRADINGDATA_BLOCKS
  const detail::Block block = detail::load_block(text);
  const auto equal = [&block](char c) { return detail::equal_to(block, c); };
  return detail::mask_of(detail::either(detail::either(equal('\\'), equal('%')), equal('&')));
#else
  return detail::mask_of(
      text, [](unsigned char byte) { return byte == '\\' || byte == '%' || byte == '&'; });
#endif
}

// Whether an escape may begin in 64 bytes.
bool may_have_escape(const char* text) {
#ifdef TRADINGDATA_BLOCKS
  // Zero or one for '%' and '&', for the backslash, and for ']', which is rare enough.
  const auto distance = [text](int at) {
    const detail::Block block = detail::load_block(text + at);
    return detail::lesser(detail::minus(block, '%'), detail::flipped(block, '\\'));
  };
  const detail::Block least = detail::lesser(detail::lesser(distance(0), distance(16)),
                                             detail::lesser(distance(32), distance(48)));
  return detail::mask_of(detail::at_most(least, 1)) != 0;
#else
  static_cast<void>(text);
  return true;
#endif
}

// In a body no token spans a space or, since JSON ends a string there, a quote.
bool is_in_word(char c) {
  return c != ' ' && c != '"' && c != '\n' && c != '\r' && c != '\t';
}

template <typename Value>
void wipe_vector(std::vector<Value>& values) {
  volatile Value* const place = values.data();  // volatile: writes to dying memory are not dropped
  for (std::size_t i = 0; i < values.size(); ++i) place[i] = Value{};
}

}  // namespace

inline TokenSearch::Piece TokenSearch::piece_at(const char* text) {
  // With this bit set, upper and lower case are alike, and few other characters are.
  constexpr Piece case_bits = 0x2020'2020'2020;
  static_assert(piece_length == 6);
  // One copy of six bytes would be assembled in memory, and reading it back would stall.
  std::uint32_t first = 0;
  std::uint16_t last = 0;
  std::memcpy(&first, text, sizeof first);
  std::memcpy(&last, text + sizeof first, sizeof last);
  return (first | Piece{last} << 32) | case_bits;
}

inline std::size_t TokenSearch::Windows::hash(const char* text) {
  constexpr std::uint32_t case_bits = 0x2020'2020;
  std::uint32_t window = 0;
  static_assert(length == sizeof window);
  std::memcpy(&window, text, sizeof window);
  return ((window | case_bits) * 0x9E37'79B1U) >> (32 - bits);
}

void TokenSearch::Windows::add(std::string_view token) {
  for (std::size_t i = 0; i + length <= token.size(); ++i)
    may_be_token_[hash(token.data() + i)] = 1;
}

void TokenSearch::Pieces::add(std::string_view token) {
  for (std::size_t i = 0; i + piece_length <= token.size(); ++i) {
    const Piece piece = piece_at(token.data() + i);
    sorted_.push_back(piece);
    filter_[hash(piece) / 64] |= std::uint64_t{1} << hash(piece) % 64;
  }
}

void TokenSearch::Pieces::add_hex(std::string_view token) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::vector<char> text;
  text.reserve(2 * token.size());
  for (const char c : token) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(digits[byte >> 4]);
    text.push_back(digits[byte & 15]);
  }
  add({text.data(), text.size()});
  wipe_vector(text);
}

// What is encoded may begin before the token, so each place of the token in a group of three bytes
// gives another text. Groups that other bytes share are left out.
void TokenSearch::Pieces::add_base64(std::string_view token) {
  constexpr std::string_view common =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const auto letter = [&common](std::uint32_t value, std::string_view last_two) {
    return value < common.size() ? common[value] : last_two[value - common.size()];
  };
  std::vector<char> text;
  text.reserve((token.size() / 3 + 1) * 4);
  for (const std::string_view last_two : {"+/", "-_"}) {
    for (std::size_t first = 0; first < 3; ++first) {
      text.clear();
      for (std::size_t i = first; i + 3 <= token.size(); i += 3) {
        std::uint32_t group = 0;
        for (const char c : token.substr(i, 3)) group = group << 8 | static_cast<unsigned char>(c);
        for (const int shift : {18, 12, 6, 0}) {
          text.push_back(letter(group >> shift & 63, last_two));
        }
      }
      add({text.data(), text.size()});
    }
  }
  text.resize(text.capacity());
  wipe_vector(text);
}

void TokenSearch::Pieces::sort() {
  std::sort(sorted_.begin(), sorted_.end());
}

void TokenSearch::Pieces::wipe() {
  wipe_vector(sorted_);
}

inline bool TokenSearch::Pieces::has(Piece piece) const {
  return (filter_[hash(piece) / 64] >> hash(piece) % 64 & 1) != 0 &&
         std::binary_search(sorted_.begin(), sorted_.end(), piece);
}

void TokenSearch::Pieces::find(std::string_view text, std::size_t least,
                               const Report& report) const {
  std::size_t from = 0;
  std::size_t to = 0;
  const auto end_run = [&] {
    if (to - from >= least) report(from, to);
  };
  for (std::size_t i = 0; i + piece_length <= text.size(); ++i) {
    if (!has(piece_at(text.data() + i))) continue;
    if (i > to) {
      end_run();
      from = i;
    } else if (to == 0) {
      from = i;
    }
    to = i + piece_length;
  }
  end_run();
}

TokenSearch::TokenSearch(const std::vector<std::string_view>& tokens)
    : least_kept_(longest_needed) {
  const std::size_t size =
      std::accumulate(tokens.begin(), tokens.end(), std::size_t{0},
                      [](std::size_t sum, std::string_view token) { return sum + token.size(); });
  shown_.reserve(size);  // at once: what grows leaves copies behind
  kept_.reserve(size);
  shown_hex_.reserve(2 * size);
  shown_base64_.reserve(8 * (size + 3 * tokens.size()));
  for (const std::string_view token : tokens) {
    shown_.add(token);
    shown_hex_.add_hex(token);
    shown_base64_.add_base64(token);
    if (token.size() >= shortest && token.size() < piece_length) {
      as_units_.push_back(lower_case(token));
    }
    if (!can_hardly_be_data(token)) continue;
    kept_.add(token);
    kept_windows_.add(token);
    least_kept_ = std::min(least_kept_, token.size());
    for (const char c : token) {
      in_kept_[static_cast<unsigned char>(c)] = true;
      in_kept_[static_cast<unsigned char>(lower(c))] = true;
      in_kept_[static_cast<unsigned char>(upper(c))] = true;
    }
  }
  for (const char c : {'\\', '%', '&', '\0'}) in_kept_[static_cast<unsigned char>(c)] = true;
  for (Pieces* pieces : {&shown_, &shown_hex_, &shown_base64_, &kept_}) pieces->sort();
}

TokenSearch::~TokenSearch() {
  for (Pieces* pieces : {&shown_, &shown_hex_, &shown_base64_, &kept_}) pieces->wipe();
}

void TokenSearch::find(std::string_view text, const Report& report) const {
  shown_.find(text, piece_length, report);
  shown_hex_.find(text, hex_piece, report);
  shown_base64_.find(text, base64_piece, report);
  if (as_units_.empty()) return;
  const std::string plain = lower_case(text);
  for (const std::string& unit : as_units_) {
    for (std::size_t at = 0; (at = plain.find(unit, at)) != std::string::npos; at += unit.size()) {
      report(at, at + unit.size());
    }
  }
}

std::int64_t TokenSearch::Overwriter::advance(Buffer& body, bool complete) {
  constexpr std::size_t in_cache = 16 * 1024;
  body_ = body.data();
  size_ = static_cast<std::size_t>(body.size());
  if (tokens_.kept_.empty()) return body.size();
  const std::size_t first = begin_;
  while (begin_ < size_) {
    const std::size_t end = complete ? std::min(begin_ + in_cache, size_) : begin_ + in_cache;
    if (!complete && !word_ends_behind(end)) break;
    pass_plain(end);
    pass_escapes(begin_, end);
    begin_ = end;
  }
  if (complete) return body.size();
  if (begin_ > first) {  // a token that continues after `begin_` may have begun before it
    done_ = begin_;
    while (done_ > 0 && is_in_word(body_[done_ - 1])) --done_;
  }
  return static_cast<std::int64_t>(done_);
}

// Whether the word at a place has arrived, with as many bytes behind it as an escape may take.
bool TokenSearch::Overwriter::word_ends_behind(std::size_t place) {
  constexpr std::size_t longest_escape = 64;
  word_end_ = std::max(word_end_, place);
  while (word_end_ < size_ && is_in_word(body_[word_end_])) ++word_end_;
  return word_end_ + longest_escape <= size_;
}

// Any run that is long enough has a window at one of these places. Few windows of other text pass
// the filter, so four are looked at together.
void TokenSearch::Overwriter::pass_plain(std::size_t end) {
  const std::size_t stride = tokens_.least_kept_ - Windows::length + 1;
  const std::size_t last = size_ < Windows::length ? 0 : std::min(end, size_ - Windows::length + 1);
  // Local copies: what the loop reads stays in registers.
  const Windows& windows = tokens_.kept_windows_;
  const char* const body = body_;
  std::size_t sample = sample_;
  const auto may_contain = [&](std::size_t i) {
    return windows.may_contain(body + sample + i * stride);
  };
  while (sample < last) {
    if (sample + 3 * stride < last &&
        (may_contain(0) | may_contain(1) | may_contain(2) | may_contain(3)) == 0) {
      sample += 4 * stride;
      continue;
    }
    for (int i = 0; i < 4 && sample < last; ++i, sample += stride) {
      // A word that was looked at may have changed since its windows were.
      if (sample >= plain_done_ && may_contain(0) != 0 && is_in_piece(sample)) {
        plain_done_ = hide_word(sample);
      }
    }
  }
  sample_ = sample;
}

// Whether a piece of a token covers the window at a place.
bool TokenSearch::Overwriter::is_in_piece(std::size_t window) const {
  for (std::size_t back = 0; back <= std::min(window, piece_length - Windows::length); ++back) {
    if (tokens_.kept_.has(piece_at(body_ + window - back))) return true;
  }
  return false;
}

// Few blocks contain an escape, so four are looked at together. Reads into the body's padding.
void TokenSearch::Overwriter::pass_escapes(std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end; at += 64) {
    const char* const text = body_ + at;
    if (!may_have_escape(text)) [[likely]]
      continue;
    const std::uint64_t low = escapes_in_16(text) | escapes_in_16(text + 16) << 16;
    const std::uint64_t high = escapes_in_16(text + 32) | escapes_in_16(text + 48) << 16;
    for (std::uint64_t bits = low | high << 32; bits != 0; bits &= bits - 1) {
      const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(bits));
      if (place >= end || place < escapes_done_) continue;
      const std::optional<Escape> escape = escape_at({body_, size_}, place);
      if (escape && tokens_.in_kept_[static_cast<unsigned char>(escape->character)]) {
        escapes_done_ = hide_word(place);
      }
    }
  }
}

// Returns the end of the word around a place.
std::size_t TokenSearch::Overwriter::hide_word(std::size_t place) {
  constexpr std::size_t window = 1 << 20;  // bounds the memory that one word takes
  std::size_t from = place;
  std::size_t to = place;
  while (from > 0 && place - from < window && is_in_word(body_[from - 1])) --from;
  while (to < size_ && to - place < window && is_in_word(body_[to])) ++to;
  if (to - from >= tokens_.least_kept_) hide(from, to);
  return to;
}

void TokenSearch::Overwriter::hide(std::size_t from, std::size_t to) {
  Spelling spelling({body_ + from, to - from});
  int layers = 0;
  do {
    tokens_.kept_.find(spelling.text(), tokens_.least_kept_, [&](std::size_t a, std::size_t b) {
      char* const begin = body_ + from + spelling.origin(a);
      char* const end = body_ + from + spelling.origin(b);
      // A layer before may have found a part of it, at the same place.
      if (!std::string_view(begin, end).starts_with(mark)) ++count_;
      std::fill(std::copy(mark.begin(), mark.end(), begin), end, filler);
    });
  } while (++layers < Spelling::most_layers && spelling.resolve());
}

std::int64_t TokenSearch::overwrite(Buffer& body) const {
  Overwriter overwriter(*this);
  overwriter.advance(body, true);
  return overwriter.count();
}

}  // namespace tradingdata
