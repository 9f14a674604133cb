// A run of a token shows as consecutive windows of eight characters that all are the token's.
#include "base/secrets/token_search.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/secrets/spelling.hpp"

namespace tradingdata {

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
  volatile Window* const windows = windows_.data();  // volatile: memory that dies is written to
  for (std::size_t i = 0; i < windows_.size(); ++i) windows[i] = 0;
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

}  // namespace tradingdata
