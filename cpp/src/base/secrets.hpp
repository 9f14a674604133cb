// Access tokens: held in one place, never shown, and searched for in text about a call and in
// fields that the service does not document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tradingdata {

class Secret {
 public:
  // Throws Error (configuration), which does not hold the value, for anything that cannot be sent
  // in a header: empty, longer than 64 KiB, or a byte other than printable ASCII.
  explicit Secret(std::string_view token);
  ~Secret();

  std::string_view reveal() const;                    // for the wire and for comparing only
  const char* header() const { return line_.get(); }  // "Authorization: Bearer <token>"

 private:
  std::unique_ptr<char[]> line_;
  std::size_t size_ = 0;
};

std::ostream& operator<<(std::ostream&, const Secret&) = delete;

// Text whose characters may be escaped, as JSON, URLs and HTML do it, also one escape inside
// another: a secret is looked for behind them. Holds the text with one layer of escapes after
// another resolved, and the place in the original that each of its characters came from. Escapes of
// other characters than printable ASCII stay.
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

// Finds access tokens in text. Cheap to make: the tokens are only indexed once there is a text to
// search. One thread at a time.
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

// A client's current access token and the last ones before it: a service may still repeat those, so
// all of them are searched for in what it sends. Every method may be called from any thread, and in
// a forked child.
class Tokens {
 public:
  static constexpr std::size_t most_former = 8;  // the oldest is forgotten, and wiped

  // True where the token is another one than before. Throws Error as Secret does.
  bool set(std::string_view token) { return replace(std::make_shared<const Secret>(token)); }
  void clear() { replace(nullptr); }
  std::shared_ptr<const Secret> current() const;  // may be none

  // Finds all of them, and the one that a request was sent with, which may be older; null where
  // there is none.
  std::shared_ptr<TokenSearch> search(const std::shared_ptr<const Secret>& sent) const;

 private:
  using Held = std::shared_ptr<const Secret>;

  bool replace(Held fresh);

  Held current_;              // with `former_`, guarded by the process mutex
  std::vector<Held> former_;  // the newest is the last; none is the current one
};

}  // namespace tradingdata
