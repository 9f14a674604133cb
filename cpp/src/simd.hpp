// Sixteen and thirty-two bytes at a time, where the processor has them; plain C++ elsewhere. All of
// these may read behind the text: a body has 64 bytes of padding for it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

// TRADINGDATA_PLAIN tests elsewhere on a machine that has them.
#if (defined(__SSE2__) || defined(_M_X64)) && !defined(TRADINGDATA_PLAIN)
#include <emmintrin.h>
#define TRADINGDATA_SSE2 1
#endif

#include "tradingdata/text.hpp"

// For the few functions that the inner loop is made of: a call would cost as much as they do.
#if defined(__GNUC__)
#define TRADINGDATA_INLINE inline __attribute__((always_inline))
#else
#define TRADINGDATA_INLINE inline
#endif

namespace tradingdata::detail {

#ifdef TRADINGDATA_SSE2
inline __m128i load_block(const char* text) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
}
inline std::uint32_t mask_of(__m128i bytes) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
}
#else
template <typename Test>
std::uint32_t mask_of(const char* text, Test test) {
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < 16; ++i) {
    mask |= static_cast<std::uint32_t>(test(static_cast<unsigned char>(text[i]))) << i;
  }
  return mask;
}
#endif

// A bit for each of 16 bytes that ends a plain run of text: quote, backslash, control, non-ASCII.
inline std::uint32_t special_in_16(const char* text) {
#ifdef TRADINGDATA_SSE2
  const __m128i block = load_block(text);
  const __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
  const __m128i backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
  // Signed and saturating, so that non-ASCII stays negative and controls become so.
  const __m128i outside = _mm_subs_epi8(block, _mm_set1_epi8(0x20));
  return mask_of(_mm_or_si128(_mm_or_si128(quote, backslash), outside));
#else
  return mask_of(text, [](unsigned char byte) {
    return byte == '"' || byte == '\\' || byte < 0x20 || byte >= 0x80;
  });
#endif
}

// How many bytes of plain text there are, up to 32.
TRADINGDATA_INLINE unsigned plain_length(const char* text) {
  std::uint32_t special = special_in_16(text);
  if (special == 0) special = special_in_16(text + 16) << 16;
  return static_cast<unsigned>(std::countr_zero(special));
}

// A bit for each of 16 bytes that is no digit.
inline std::uint32_t other_than_digits(const char* text) {
#ifdef TRADINGDATA_SSE2
  const __m128i value = _mm_sub_epi8(load_block(text), _mm_set1_epi8('0'));
  return mask_of(_mm_adds_epu8(value, _mm_set1_epi8(0x76)));  // 10 and more reach the top bit
#else
  return mask_of(text, [](unsigned char byte) { return byte < '0' || byte > '9'; });
#endif
}

// Whether the 32 bytes at `text` and `expected` agree wherever `mask` has a bit.
inline bool same_bytes(const char* text, const char* expected, std::uint32_t mask) {
#ifdef TRADINGDATA_SSE2
  const auto equal = [&](int at) {
    return mask_of(_mm_cmpeq_epi8(load_block(text + at), load_block(expected + at)));
  };
  return (~(equal(0) | equal(16) << 16) & mask) == 0;
#else
  return std::memcmp(text, expected, static_cast<std::size_t>(std::popcount(mask))) == 0;
#endif
}

// A view of at most 32 bytes of text, which lie at `offset` in buffer 0. Both forms are made
// without a branch: lengths vary from cell to cell, and a wrong guess costs more than the work.
inline void store_view(TextView* out, const char* text, unsigned size, std::int64_t offset) {
#ifdef TRADINGDATA_SSE2
  struct Kept {
    alignas(16) unsigned char bytes[33][16];
  };
  static constexpr Kept kept = [] {
    Kept table{};
    for (unsigned length = 0; length <= 32; ++length) {
      const unsigned count = length <= TextView::inline_capacity ? length : 4;  // the prefix
      for (unsigned i = 0; i < count; ++i) table.bytes[length][i] = 0xFF;
    }
    return table;
  }();
  const auto* const mask = reinterpret_cast<const __m128i*>(kept.bytes[size]);
  const __m128i characters = _mm_and_si128(load_block(text), _mm_load_si128(mask));
  const std::int64_t place = size > TextView::inline_capacity ? offset << 32 : 0;
  const __m128i head =
      _mm_or_si128(_mm_slli_si128(characters, 4), _mm_cvtsi32_si128(static_cast<int>(size)));
  const __m128i tail = _mm_set_epi64x(place, 0);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_or_si128(head, tail));
#else
  const std::string_view view(text, size);
  *out = size <= TextView::inline_capacity ? TextView::make_inline(view)
                                           : TextView::make_place(view, 0, offset);
#endif
}

}  // namespace tradingdata::detail
