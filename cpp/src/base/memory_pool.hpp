// Memory for bodies and columns: 64-byte aligned, not zeroed.
//
// Large blocks bypass the C library's heap, which a book that is kept would leave full of holes,
// and of which each freed body would be given back to the system and zeroed again for the next one.
// A few that were freed are kept for the next answer instead, 80 MiB at most.
#pragma once

#include <cstdint>

namespace tradingdata {

inline constexpr std::int64_t block_alignment = 64;

void* allocate_block(std::int64_t bytes);  // throws std::bad_alloc
void free_block(void* block) noexcept;     // which may be null

}  // namespace tradingdata
