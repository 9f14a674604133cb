// Access tokens: held in one place, never shown, and searched for in text about a call and in
// fields that the service does not document.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

// Text may be escaped as JSON, URLs and HTML do it, also one escape inside another, as in a web
// page that quotes JSON that quotes a URL.
inline constexpr int most_layers = 3;

// Resolves one layer of escapes of printable ASCII characters; false where there is none.
bool resolve_escapes(std::string& text);

// The text without what `hide` overwrites in it, as it is or behind escapes. Where some is behind
// escapes, their layers are resolved. Each layer is searched complete, so that what is only partly
// escaped is found as a unit.
template <typename Hide>
std::string hidden_in_layers(std::string_view text, const Hide& hide) {
  std::string shown(text);
  hide(shown, false);
  std::string expected = shown;  // resolved like the layer
  std::string layer(text);
  for (int i = 0; i < most_layers && resolve_escapes(layer); ++i) {
    std::string hidden = layer;
    hide(hidden, false);
    resolve_escapes(expected);
    if (hidden == layer || hidden == expected) continue;
    hide(hidden, true);
    shown = expected = hidden;
  }
  return shown;
}

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

  // The text without tokens: the mark and the filler are in place of each piece. Where some are
  // behind escapes, their layers are resolved, and the text is shorter.
  std::string scrubbed(std::string_view text);

  // How many values of a body had a token. The decoder that writes over them counts here, since a
  // body that it reads again no longer has them.
  std::int64_t overwritten = 0;

 private:
  void index();
  std::size_t piece_at(std::string_view text) const;
  void hide(std::string& text) const;

  std::vector<std::shared_ptr<const Secret>> tokens_;
  std::vector<bool> index_;  // by hash: where eight characters of a token may begin
};

// A client's current access token and the last ones before it: a service may still repeat those, so
// all of them are searched for in what it sends. Every method may be called from any thread, and in
// a forked child.
class Tokens {
 public:
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

  std::array<Held, 9>
      held_;  // guarded by the process mutex; the current one first, which may be none
};

}  // namespace tradingdata
