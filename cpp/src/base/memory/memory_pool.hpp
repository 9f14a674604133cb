// Memory for bodies and columns: 64-byte aligned, not zeroed.
//
// Large blocks bypass the C library's heap, which a book that is kept would fragment, and which
// returns each freed body to the system, where its pages are zeroed again for the next one.
// A few freed blocks are kept for the next response instead, at most 80 MiB.
#pragma once

#include <cstdint>

namespace tradingdata {

inline constexpr std::int64_t block_alignment = 64;

void* allocate_block(std::int64_t bytes);  // throws std::bad_alloc
void free_block(void* block) noexcept;     // which may be null

}  // namespace tradingdata
