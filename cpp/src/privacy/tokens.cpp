// Holds tokens, resolves escapes, and finds tokens in text.
#include "privacy/tokens.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "base/platform.hpp"
#include "base/text.hpp"

namespace tradingdata {

namespace {

constexpr std::string_view prefix = "Authorization: Bearer ";
constexpr std::size_t most_bytes = 64 * 1024;

void check(std::string_view token) {
  constexpr const char* advice = "access_token cannot be sent in a header: ";
  const auto refuse = [&](const char* why) {
    throw Error(ErrorKind::configuration, std::string(advice) + why + " (the value is not shown)");
  };
  if (token.empty()) refuse("it is empty");
  if (token.size() > most_bytes) refuse("it is longer than 64 KiB");
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
  std::size_t length;  // of its spelling; 0: none
};

struct NumericForm {
  std::string_view lead;
  int base;
  std::size_t least_digits, most_digits;
};
constexpr std::size_t any_number = 32;  // leading zeros are allowed
constexpr NumericForm numeric_forms[] = {
    {"\\u", 16, 4, 4},          {"%", 16, 2, 2},           {"&#x", 16, 1, any_number},
    {"&#X", 16, 1, any_number}, {"&#", 10, 1, any_number},
};
// The references that a token or a key may need.
constexpr std::pair<std::string_view, char> named_forms[] = {
    {"\\\"", '"'},   {"\\\\", '\\'},    {"\\/", '/'},    {"&amp;", '&'},
    {"&lt;", '<'},   {"&gt;", '>'},     {"&quot;", '"'}, {"&apos;", '\''},
    {"&plus;", '+'}, {"&equals;", '='}, {"&sol;", '/'},
};

Escape escape_at(std::string_view text) {
  for (const auto& [spelling, character] : named_forms) {
    if (text.starts_with(spelling)) return {character, spelling.size()};
  }
  for (const NumericForm& form : numeric_forms) {
    if (!text.starts_with(form.lead)) continue;
    const std::string_view digits = text.substr(form.lead.size(), form.most_digits);
    unsigned code = 0;
    const char* const end =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, form.base).ptr;
    std::size_t length = static_cast<std::size_t>(end - text.data());
    if (length < form.lead.size() + form.least_digits || code <= 0x20 || code > 0x7E) continue;
    if (form.lead.starts_with('&') && text.substr(length).starts_with(';')) ++length;
    return {static_cast<char>(code), length};
  }
  return {};
}

}  // namespace

bool resolve_escapes(std::string& text) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < text.size();) {
    const bool special = text[i] == '\\' || text[i] == '%' || text[i] == '&';
    const Escape escape = special ? escape_at(std::string_view(text).substr(i)) : Escape{};
    text[left++] = escape.length > 0 ? escape.character : text[i];
    i += std::max<std::size_t>(escape.length, 1);
  }
  const bool resolved = left < text.size();
  text.resize(left);
  return resolved;
}

// Compares text with tokens only where eight of its characters may be in one.

namespace {

constexpr int index_bits = 18;

std::size_t hash_at(const char* text) {
  static_assert(sizeof load_word(text) == TokenSearch::shortest);
  return static_cast<std::size_t>(load_word(text) * 0x9E3779B97F4A7C15 >> (64 - index_bits));
}

}  // namespace

TokenSearch::TokenSearch(std::vector<std::shared_ptr<const Secret>> tokens)
    : tokens_(std::move(tokens)) {}

void TokenSearch::index() {
  index_.resize(std::size_t{1} << index_bits);
  // What is an escape in a token is resolved with those of a text.
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    std::string resolved(tokens_[i]->reveal());
    if (resolve_escapes(resolved)) tokens_.push_back(std::make_shared<const Secret>(resolved));
  }
  for (const auto& token : tokens_) {
    std::string_view text = token->reveal();
    for (; text.size() >= shortest; text.remove_prefix(1)) index_[hash_at(text.data())] = true;
  }
}

// The length of what a text begins with, if that is a run or all of a token; else 0.
std::size_t TokenSearch::piece_at(std::string_view text) const {
  std::size_t longest = 0;
  for (const auto& token : tokens_) {
    const std::size_t size = std::min(token->reveal().size(), shortest_run);
    const bool found = size >= shortest && text.size() >= size &&
                       token->reveal().find(text.substr(0, size)) != std::string_view::npos;
    if (found) longest = std::max(longest, size);
  }
  return longest;
}

// Runs that overlap are one piece, which begins with the mark.
void TokenSearch::hide(std::string& text) const {
  const std::string sent = text;
  std::size_t end = 0;  // of the latest piece
  for (std::size_t i = 0; i + shortest <= sent.size(); ++i) {
    if (!index_[hash_at(&sent[i])]) continue;
    const std::size_t size = piece_at(std::string_view(sent).substr(i));
    if (size == 0) continue;
    if (i >= end) end = i + mark.copy(&text[i], mark.size());
    for (; end < i + size; ++end) text[end] = filler;
  }
}

std::string TokenSearch::scrubbed(std::string_view text) {
  if (text.size() < shortest) return std::string(text);
  if (index_.empty()) index();
  return hidden_in_layers(text, [this](std::string& layer, bool) { hide(layer); });
}

// What the lock guards here are a few pointers: a token is copied and wiped outside.
bool Tokens::replace(Held fresh) {
  const std::scoped_lock lock(detail::process_mutex());
  Held& current = held_.front();
  if (current == fresh || (current && fresh && current->reveal() == fresh->reveal())) return false;
  std::rotate(held_.begin(), held_.end() - 1, held_.end());  // clang 14 has no ranges::rotate
  held_.front().swap(fresh);  // the last copy of the oldest one is now the caller's
  return true;
}

std::shared_ptr<const Secret> Tokens::current() const {
  const std::scoped_lock lock(detail::process_mutex());
  return held_.front();
}

std::shared_ptr<TokenSearch> Tokens::search(const Held& sent) const {
  std::vector<Held> tokens(held_.size());
  {
    const std::scoped_lock lock(detail::process_mutex());
    std::ranges::copy(held_, tokens.begin());
  }
  if (std::ranges::find(tokens, sent) == tokens.end()) tokens.push_back(sent);
  std::erase(tokens, nullptr);
  if (tokens.empty()) return nullptr;
  return std::make_shared<TokenSearch>(std::move(tokens));
}

}  // namespace tradingdata
