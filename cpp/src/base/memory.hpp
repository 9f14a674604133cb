// Memory for bodies and columns: aligned blocks that are kept for the next response, buffers that
// parsers read, and arenas for exports.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace tradingdata {

inline constexpr std::int64_t block_alignment = 64;

// Blocks are 64-byte aligned and not zeroed. Large ones bypass the C library's heap, which a book
// that is kept would fragment, and which returns each freed body to the system, where its pages are
// zeroed again for the next one. A few freed blocks are kept for the next response instead, at most
// 80 MiB.
void* allocate_block(std::int64_t bytes);  // throws std::bad_alloc
void free_block(void* block) noexcept;     // which may be null

// A growable run of bytes with readable padding after its end, so that a parser may load 64 bytes
// at any position of it. A received body is written straight into one and parsed in place. Every
// change of the size zeroes the padding again: parsers must find no old bytes there.
class Buffer {
 public:
  static constexpr std::int64_t padding = 64;

  Buffer() = default;
  explicit Buffer(std::string_view content);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  char* data() { return data_; }
  const char* data() const { return data_; }
  std::int64_t size() const { return size_; }
  std::int64_t capacity() const { return capacity_; }
  std::string_view view() const { return {data_, static_cast<std::size_t>(size_)}; }

  // Room for `capacity` bytes in all; never shrinks. Throws std::bad_alloc.
  void reserve(std::int64_t capacity);
  void append(std::string_view more);
  void resize(std::int64_t size);  // new bytes are zero
  // Adds bytes that the caller has written after the content, within the capacity.
  void extend(std::int64_t count);
  void clear() { size_ = 0; }

 private:
  char* data_ = nullptr;
  std::int64_t size_ = 0;
  std::int64_t capacity_ = 0;
};

// A piece of a block, which it keeps alive.
using SharedBlock = std::shared_ptr<std::byte>;

// Cuts the buffers of one export from a few blocks. A block for each buffer would be more than the
// pool keeps, so that every export would touch new pages.
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
