// Holds tokens, resolves escapes, and finds tokens behind them.
#include "base/secrets.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/platform.hpp"
#include "base/text.hpp"

namespace tradingdata {

namespace {

constexpr std::string_view prefix = "Authorization: Bearer ";
constexpr std::size_t longest = 64 * 1024;

void check(std::string_view token) {
  constexpr const char* advice = "access_token cannot be sent in a header: ";
  const auto refuse = [&](const char* why) {
    throw Error(ErrorKind::configuration, std::string(advice) + why + " (the value is not shown)");
  };
  if (token.empty()) refuse("it is empty");
  if (token.size() > longest) refuse("it is longer than 64 KiB");
  for (const char letter : token) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte == '\r' || byte == '\n') refuse("it contains a line break");
    if (byte == ' ') refuse("it contains a space");
    if (byte < 0x20 || byte == 0x7f) refuse("it contains a control character");
    if (byte > 0x7f) refuse("it contains a character outside ASCII");
  }
}

void wipe(char* data, std::size_t size) {
  volatile char* bytes = data;  // volatile: the compiler may not drop writes to dying memory
  for (std::size_t i = 0; i < size; ++i) bytes[i] = 0;
}

}  // namespace

Secret::Secret(std::string_view token) {
  check(token);
  size_ = token.size();
  line_ = std::make_unique<char[]>(prefix.size() + size_ + 1);
  std::memcpy(line_.get(), prefix.data(), prefix.size());
  std::memcpy(line_.get() + prefix.size(), token.data(), size_);
}

Secret::~Secret() {
  wipe(line_.get(), prefix.size() + size_);
}

std::string_view Secret::reveal() const {
  return {line_.get() + prefix.size(), size_};
}

// Recognises one escape at a time.

namespace {

struct Escape {
  char character;
  std::size_t length;  // of its spelling
};

// The references that a token or a key may need.
constexpr std::array<std::pair<std::string_view, char>, 8> named_references{{
    {"&amp;", '&'},
    {"&lt;", '<'},
    {"&gt;", '>'},
    {"&quot;", '"'},
    {"&apos;", '\''},
    {"&plus;", '+'},
    {"&equals;", '='},
    {"&sol;", '/'},
}};

// An escape of `least` to `most` digits after `lead` characters.
std::optional<Escape> numeric(std::string_view text, std::size_t lead, int base, std::size_t least,
                              std::size_t most) {
  constexpr std::int64_t beyond = 0x110000;
  std::int64_t code = 0;
  std::size_t at = lead;
  for (; at < std::min(lead + most, text.size()); ++at) {
    const int digit = hex_digit(text[at]);
    if (digit < 0 || digit >= base) break;
    code = std::min(code * base + digit, beyond);
  }
  if (at < lead + least || code < 0x20 || code > 0x7E) return std::nullopt;
  return Escape{static_cast<char>(code), at};
}

std::optional<Escape> json_escape(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  if (text[1] == 'u') return numeric(text, 2, 16, 4, 4);
  const bool itself = text[1] == '"' || text[1] == '\\' || text[1] == '/';
  return itself ? std::optional(Escape{text[1], 2}) : std::nullopt;
}

std::optional<Escape> html_reference(std::string_view text) {
  constexpr std::size_t most_digits = 32;  // leading zeros are allowed
  if (text.starts_with("&#")) {
    const bool hex = text.size() > 2 && lower(text[2]) == 'x';
    std::optional<Escape> escape =
        hex ? numeric(text, 3, 16, 1, most_digits) : numeric(text, 2, 10, 1, most_digits);
    if (escape && text.substr(escape->length).starts_with(';')) ++escape->length;
    return escape;
  }
  for (const auto& [reference, character] : named_references) {
    if (text.starts_with(reference)) return Escape{character, reference.size()};
  }
  return std::nullopt;
}

std::optional<Escape> escape_at(std::string_view text) {
  switch (text.front()) {
    case '\\': return json_escape(text);
    case '%': return numeric(text, 1, 16, 2, 2);
    case '&': return html_reference(text);
    default: return std::nullopt;
  }
}

}  // namespace

Spelling::Spelling(std::string_view original) : text_(original), origins_(original.size() + 1) {
  for (std::size_t i = 0; i <= original.size(); ++i) origins_[i] = static_cast<std::uint32_t>(i);
}

bool Spelling::resolve() {
  std::size_t left = 0;
  std::size_t i = 0;
  while (i < text_.size()) {
    const std::optional<Escape> escape = escape_at(std::string_view(text_).substr(i));
    text_[left] = escape ? escape->character : text_[i];
    origins_[left++] = origins_[i];
    i += escape ? escape->length : 1;
  }
  origins_[left] = origins_[i];
  const bool resolved = left < text_.size();
  text_.resize(left);
  origins_.resize(left + 1);
  return resolved;
}

// A run of a token shows as consecutive windows of eight characters that all are the token's.

namespace {

constexpr std::size_t window_length = 8;
constexpr int filter_bits = 16;

std::uint64_t window_at(const char* text) {
  std::uint64_t window = 0;
  static_assert(sizeof window == window_length);
  std::memcpy(&window, text, sizeof window);
  return window;
}

std::size_t hash_of(std::uint64_t window) {
  return static_cast<std::size_t>(window * 0x9E3779B97F4A7C15 >> (64 - filter_bits));
}

}  // namespace

TokenSearch::TokenSearch(std::vector<std::shared_ptr<const Secret>> tokens)
    : tokens_(std::move(tokens)) {}

TokenSearch::~TokenSearch() {
  wipe(reinterpret_cast<char*>(windows_.data()), windows_.size() * sizeof(Window));
}

void TokenSearch::index() {
  std::size_t size = 0;
  for (const auto& token : tokens_) size += token->reveal().size();
  windows_.reserve(size);  // at once: what grows leaves copies behind
  filter_.resize((std::size_t{1} << filter_bits) / 64);
  for (const auto& token : tokens_) {
    const std::string_view text = token->reveal();
    if (text.size() < shortest_run) continue;
    for (std::size_t i = 0; i + window_length <= text.size(); ++i) {
      const Window window = window_at(text.data() + i);
      windows_.push_back(window);
      filter_[hash_of(window) / 64] |= std::uint64_t{1} << hash_of(window) % 64;
    }
  }
  std::sort(windows_.begin(), windows_.end());
  indexed_ = true;
}

inline bool TokenSearch::has(Window window) const {
  return (filter_[hash_of(window) / 64] >> hash_of(window) % 64 & 1) != 0 &&
         std::binary_search(windows_.begin(), windows_.end(), window);
}

void TokenSearch::find_plain(std::string_view text, const Report& report) const {
  std::size_t from = 0;
  for (std::size_t i = 0; i + window_length <= text.size(); ++i) {
    if (has(window_at(text.data() + i))) continue;
    // The windows from `from` up to here are a token's.
    if (i > from && i - 1 + window_length - from >= shortest_run) {
      report(from, i - 1 + window_length);
    }
    from = i + 1;
  }
  if (text.size() >= from + shortest_run) report(from, text.size());
  for (const auto& token : tokens_) {
    const std::string_view unit = token->reveal();
    if (unit.size() < shortest || unit.size() >= shortest_run) continue;
    for (std::size_t at = 0; (at = text.find(unit, at)) != std::string_view::npos;
         at += unit.size()) {
      report(at, at + unit.size());
    }
  }
}

void TokenSearch::find(std::string_view text, const Report& report) {
  if (text.size() < shortest) return;
  if (!indexed_) index();
  // A copy, made first: what is reported may be overwritten at once.
  std::optional<Spelling> spelling;
  if (text.find_first_of("\\%&") != std::string_view::npos) spelling.emplace(text);
  find_plain(text, report);
  for (int layers = 0; spelling && layers < Spelling::most_layers && spelling->resolve();
       ++layers) {
    find_plain(spelling->text(), [&](std::size_t from, std::size_t to) {
      report(spelling->origin(from), spelling->origin(to));
    });
  }
}

// A token is searched for from before it is first sent until several newer ones have replaced it.

// What a lock guards here are a few pointers: a token is read, copied and wiped outside.
bool Tokens::replace(Held fresh) {
  Held forgotten;
  const std::scoped_lock lock(detail::process_mutex());
  const auto same = [&fresh](const Held& held) {
    return held != nullptr && fresh != nullptr && held->reveal() == fresh->reveal();
  };
  if (same(current_)) return false;
  std::vector<Held> former = former_;
  std::erase_if(former, same);
  if (current_ != nullptr) former.push_back(current_);
  if (former.size() > most_former) {
    forgotten = std::move(former.front());
    former.erase(former.begin());
  }
  former_ = std::move(former);
  current_ = std::move(fresh);
  return true;
}

std::shared_ptr<const Secret> Tokens::current() const {
  const std::scoped_lock lock(detail::process_mutex());
  return current_;
}

std::shared_ptr<TokenSearch> Tokens::search(const Held& sent) const {
  std::vector<Held> tokens;
  tokens.reserve(most_former + 2);
  {
    const std::scoped_lock lock(detail::process_mutex());
    tokens = former_;
    if (current_ != nullptr) tokens.push_back(current_);
  }
  const bool known = std::find(tokens.begin(), tokens.end(), sent) != tokens.end();
  if (sent != nullptr && !known) tokens.push_back(sent);
  if (tokens.empty()) return nullptr;
  return std::make_shared<TokenSearch>(std::move(tokens));
}

}  // namespace tradingdata
