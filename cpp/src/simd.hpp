// Sixteen bytes at a time, where the processor has them; plain C++ elsewhere.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define TRADINGDATA_SSE2 1
#endif

#include "tradingdata/text.hpp"

namespace tradingdata::detail {

// A bit for each of 16 bytes that ends a plain run of text: quote, backslash, control, non-ASCII.
inline std::uint32_t special_bytes(const char* text) {
#ifdef TRADINGDATA_SSE2
  const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
  const __m128i backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
  // As signed bytes, non-ASCII is negative: one comparison finds it and the control characters.
  const __m128i outside = _mm_cmplt_epi8(block, _mm_set1_epi8(0x20));
  return static_cast<std::uint32_t>(
      _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), outside)));
#else
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < 16; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool special = byte == '"' || byte == '\\' || byte < 0x20 || byte >= 0x80;
    mask |= static_cast<std::uint32_t>(special) << i;
  }
  return mask;
#endif
}

// A view of text that fits inline; reads 16 bytes whatever `size` is.
inline void store_inline(TextView* out, const char* text, int size) {
#ifdef TRADINGDATA_SSE2
  alignas(16) static constexpr auto keep = [] {
    struct { unsigned char rows[13][16]; } table{};
    for (int i = 0; i < 13; ++i) {
      for (int j = 0; j < i; ++j) table.rows[i][j] = 0xFF;
    }
    return table;
  }();
  const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i mask = _mm_load_si128(reinterpret_cast<const __m128i*>(keep.rows[size]));
  const __m128i shifted = _mm_slli_si128(_mm_and_si128(block, mask), 4);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_or_si128(shifted, _mm_cvtsi32_si128(size)));
#else
  *out = TextView::make_inline({text, static_cast<std::size_t>(size)});
#endif
}

// Whether the 32 bytes at `text` and `expected` agree wherever `mask` has a bit.
inline bool same_bytes(const char* text, const char* expected, std::uint32_t mask) {
#ifdef TRADINGDATA_SSE2
  const auto equal = [&](int at) {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at));
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(expected + at));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)));
  };
  const std::uint32_t found = equal(0) | equal(16) << 16;
  return (~found & mask) == 0;
#else
  return std::memcmp(text, expected, static_cast<std::size_t>(std::popcount(mask))) == 0;
#endif
}

}  // namespace tradingdata::detail
