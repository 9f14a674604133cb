// Memory for bodies and columns: aligned blocks, of which a few are kept for the next response, and
// buffers that parsers read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tradingdata {

inline constexpr std::int64_t block_alignment = 64;

// Aligned to 64 bytes, and not zeroed.
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

}  // namespace tradingdata
