// Cuts the buffers of one export from a few blocks. A block for each buffer would be more than the
// pool keeps, so that every export would touch new pages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/memory/memory_pool.hpp"

namespace tradingdata {

// A piece of a block, which it keeps alive.
using SharedBlock = std::shared_ptr<std::byte>;

class Arena {
 public:
  // `expected`: an estimate of all bytes, which may be exceeded.
  explicit Arena(std::int64_t expected)
      : step_(expected < 2 * large_step ? std::clamp(expected, block_alignment, small_step)
                                        : large_step) {}

  // Aligned as a block is, not zeroed, with at least one byte more than `bytes`.
  SharedBlock take(std::int64_t bytes) {
    const std::int64_t size = (bytes / block_alignment + 1) * block_alignment;
    if (size > left_) start_block(std::max(size, step_));
    left_ -= size;
    return SharedBlock(block_, std::exchange(free_, free_ + size));
  }

 private:
  // A column that outlives its frame keeps its block alive, so blocks are a small part of a frame.
  // Those of large frames are of a size that uses huge pages.
  static constexpr std::int64_t small_step = 768 << 10;
  static constexpr std::int64_t large_step = 16 << 20;

  void start_block(std::int64_t size) {
    block_.reset(static_cast<std::byte*>(allocate_block(size)),
                 [](std::byte* block) { free_block(block); });
    free_ = block_.get();
    left_ = size;
  }

  std::int64_t step_;
  std::int64_t left_ = 0;
  std::byte* free_ = nullptr;
  SharedBlock block_;
};

}  // namespace tradingdata
