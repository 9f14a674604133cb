// Finds access tokens in responses, however the service spells them. Text that is shown loses every
// piece of a token, since an echo may be cut anywhere. Data that is kept loses only what can hardly
// be anything else: there, a value must not be mistaken for a secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.hpp"

namespace tradingdata {

class TokenSearch {
 public:
  static constexpr std::string_view mark = "<token>";
  static constexpr char filler = 'X';

  // This many characters of a token in a row are a piece of it.
  static constexpr std::size_t piece_length = 6;
  // Shorter tokens are part of every other word and are not searched for.
  static constexpr std::size_t shortest = 4;
  // Six bytes of a token in an encoding are a piece of it too: numbers often look like fewer.
  static constexpr std::size_t hex_piece = 12;
  static constexpr std::size_t base64_piece = 8;

  explicit TokenSearch(const std::vector<std::string_view>& tokens);
  ~TokenSearch();
  TokenSearch(const TokenSearch&) = delete;
  TokenSearch& operator=(const TokenSearch&) = delete;

  using Report = std::function<void(std::size_t from, std::size_t to)>;

  // Reports each piece of a token in a text, in upper or lower case, also in hexadecimal and in
  // base64. Sees the text as it is: call it for each layer of a Spelling.
  void find(std::string_view text, const Report& report) const;

  // Writes `<token>` and a filler over each token in a body, in any spelling; the body keeps its
  // length. Returns how many there were. Skips tokens that may be data (fewer than 8 characters,
  // fewer than 5 different ones, or digits only) and pieces of fewer than 32 characters of a longer
  // token.
  std::int64_t overwrite(Buffer& body) const;

  // The same for a body that is still arriving.
  class Overwriter;

 private:
  using Piece = std::uint64_t;  // the characters as a number, letters in lower case

  class Pieces {
   public:
    void reserve(std::size_t count) { sorted_.reserve(count); }
    void add(std::string_view token);
    void add_hex(std::string_view token);
    void add_base64(std::string_view token);
    void sort();
    void wipe();
    bool empty() const { return sorted_.empty(); }
    bool has(Piece piece) const;
    // Reports the runs of at least `least` characters.
    void find(std::string_view text, std::size_t least, const Report& report) const;

   private:
    static constexpr int filter_bits = 15;
    static std::size_t hash(Piece piece) {
      return static_cast<std::size_t>(piece * 0x9E3779B97F4A7C15 >> (64 - filter_bits));
    }

    std::vector<Piece> sorted_;
    std::array<std::uint64_t, (1U << filter_bits) / 64> filter_{};  // by hash: consulted first
  };

  static Piece piece_at(const char* text);

  // The first look at a place of a body: whether four characters may be part of a token. One byte
  // for each hash, since picking a bit would take as long as the rest of the test.
  class Windows {
   public:
    static constexpr std::size_t length = 4;

    void add(std::string_view token);
    // Not zero: perhaps, and zero: certainly not.
    std::uint8_t may_contain(const char* text) const { return may_be_token_[hash(text)]; }

   private:
    static constexpr int bits = 13;
    static std::size_t hash(const char* text);

    std::array<std::uint8_t, 1U << bits> may_be_token_{};
  };

  Pieces shown_;
  Pieces shown_hex_;
  Pieces shown_base64_;
  Pieces kept_;
  Windows kept_windows_;
  std::size_t least_kept_;           // the shortest run that data loses
  std::array<bool, 256> in_kept_{};  // the characters of those tokens, and what escapes begin with
  std::vector<std::string> as_units_;  // tokens shorter than a piece, in lower case
};

// One pass over a body. What may be a token leads to the word around it, which is then looked at
// in every layer of its spelling. `tokens` must outlive it.
class TokenSearch::Overwriter {
 public:
  explicit Overwriter(const TokenSearch& tokens) : tokens_(tokens) {}

  // Goes on where the last call ended: the body has grown since, and may have moved. Returns how
  // many of its bytes are done. Where and in which order words are looked at does not depend on how
  // the body arrived, so neither does the result.
  std::int64_t advance(Buffer& body, bool complete);

  std::int64_t count() const { return count_; }  // tokens found

 private:
  bool word_ends_behind(std::size_t place);
  void pass_plain(std::size_t end);
  bool is_in_piece(std::size_t window) const;
  void pass_escapes(std::size_t begin, std::size_t end);
  std::size_t hide_word(std::size_t place);
  void hide(std::size_t from, std::size_t to);

  const TokenSearch& tokens_;
  char* body_ = nullptr;
  std::size_t size_ = 0;
  std::size_t begin_ = 0;     // what is before it was passed
  std::size_t done_ = 0;      // the beginning of the word there
  std::size_t word_end_ = 0;  // no word ends between `begin_` and here
  std::size_t sample_ = 0;
  std::size_t plain_done_ = 0;    // words before it were looked at for a piece in them
  std::size_t escapes_done_ = 0;  // and for an escape
  std::int64_t count_ = 0;
};

}  // namespace tradingdata
