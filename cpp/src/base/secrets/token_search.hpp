// Finds access tokens in text about a call, and in fields that the service does not document. The
// documented fields of a book are never searched: there, a value must not be mistaken for a secret.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/secrets/secret.hpp"

namespace tradingdata {

// Cheap to make: the tokens are only indexed once there is a text to search. One thread at a time.
class TokenSearch {
 public:
  static constexpr std::string_view mark = "<token>";
  static constexpr char filler = 'X';

  // A token of this many characters or more is found by any such run of it, since an echo may be
  // cut anywhere.
  static constexpr std::size_t shortest_run = 12;
  // A shorter one is found as a unit, and a token shorter than this is not searched for: it is part
  // of too many other words.
  static constexpr std::size_t shortest = 8;

  explicit TokenSearch(std::vector<std::shared_ptr<const Secret>> tokens);
  ~TokenSearch();
  TokenSearch(const TokenSearch&) = delete;
  TokenSearch& operator=(const TokenSearch&) = delete;

  using Report = std::function<void(std::size_t from, std::size_t to)>;

  // Reports each piece of a token in a text, as it is or behind escapes; places may repeat.
  void find(std::string_view text, const Report& report);

 private:
  using Window = std::uint64_t;  // eight characters

  void index();
  bool has(Window window) const;
  void find_plain(std::string_view text, const Report& report) const;

  std::vector<std::shared_ptr<const Secret>> tokens_;
  bool indexed_ = false;
  std::vector<Window> windows_;        // of the tokens that are found by a run, sorted
  std::vector<std::uint64_t> filter_;  // by hash: consulted first
};

}  // namespace tradingdata
