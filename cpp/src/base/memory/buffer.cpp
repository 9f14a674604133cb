// Growth of a buffer. Every change of the size zeroes the padding again, because parsers read
// past the end and must find no old bytes there.
#include "base/memory/buffer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/memory/memory_pool.hpp"

namespace tradingdata {

Buffer::Buffer(std::string_view content) {
  append(content);
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

Buffer::~Buffer() {
  free_block(data_);
}

void Buffer::reserve(std::int64_t capacity) {
  if (data_ != nullptr && capacity <= capacity_) return;
  auto* grown = static_cast<char*>(allocate_block(capacity + padding));
  if (size_ > 0) std::memcpy(grown, data_, static_cast<std::size_t>(size_));
  std::memset(grown + size_, 0, static_cast<std::size_t>(padding));
  free_block(data_);
  data_ = grown;
  capacity_ = capacity;
}

void Buffer::append(std::string_view more) {
  const auto count = static_cast<std::int64_t>(more.size());
  if (data_ == nullptr || size_ + count > capacity_) {
    reserve(std::max(size_ + count, size_ == 0 ? 0 : capacity_ * 2));
  }
  if (count > 0) std::memcpy(data_ + size_, more.data(), more.size());
  extend(count);
}

void Buffer::resize(std::int64_t size) {
  reserve(size);
  if (size > size_) std::memset(data_ + size_, 0, static_cast<std::size_t>(size - size_));
  size_ = size;
  std::memset(data_ + size_, 0, static_cast<std::size_t>(padding));
}

void Buffer::extend(std::int64_t count) {
  size_ += count;
  std::memset(data_ + size_, 0, static_cast<std::size_t>(padding));
}

}  // namespace tradingdata
