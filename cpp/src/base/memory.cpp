// Large blocks are mapped, and kept for the next body after use, because touching new pages costs
// time. Small blocks come from the C library's heap.
#include "base/memory.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <new>

#include "base/platform.hpp"
#include "base/simd.hpp"

namespace tradingdata {

namespace {

using Size = std::int64_t;

// Stored before the block's first byte.
struct Head {
  Size mapped;  // bytes, this head included; 0: from the C library's heap
};
static_assert(sizeof(Head) <= block_alignment);

Head* head_of(void* block) {
  return reinterpret_cast<Head*>(static_cast<std::byte*>(block) - block_alignment);
}

void* block_of(Head* head) {
  return reinterpret_cast<std::byte*>(head) + block_alignment;
}

constexpr std::align_val_t heap_alignment{block_alignment};

Head* allocate_small(Size bytes) {
  return new (::operator new(static_cast<std::size_t>(bytes), heap_alignment)) Head{0};
}

// The C library's heap serves smaller blocks without returning their pages to the system.
constexpr Size mapped_from = 64 << 10;
constexpr Size large_from = 1 << 20;
constexpr Size kept_to = 16 << 20;  // of four large blocks

// Sizes are rounded up by an eighth at most, so that a book that grew a little finds a place. Pages
// that are never touched cost nothing.
Size rounded(Size bytes) {
  const auto step = static_cast<Size>(std::bit_floor(static_cast<std::uint64_t>(bytes))) / 8;
  return (bytes + step - 1) / step * step;
}

void unmap(Head* head) {
  detail::unmap_pages(head, static_cast<std::size_t>(head->mapped));
}

// The blocks that were freed last. Whoever takes a pointer out of its slot owns the block: no lock,
// so that a fork at any moment leaves the child nothing that waits for another thread.
template <std::size_t count>
class FreeBlocks {
 public:
  Head* take(Size size) {
    for (auto& slot : slots_) {
      Head* const head = slot.exchange(nullptr);
      if (head == nullptr) continue;
      if (head->mapped >= size && head->mapped <= size + size / 2) return head;
      Head* empty = nullptr;
      if (!slot.compare_exchange_strong(empty, head)) unmap(head);
    }
    return nullptr;
  }

  void keep(Head* head) {
    Head* const oldest = slots_[next_++ % slots_.size()].exchange(head);
    if (oldest != nullptr) unmap(oldest);
  }

 private:
  std::array<std::atomic<Head*>, count> slots_{};
  std::atomic<std::size_t> next_{0};
};

// A small response that is polled while the last one is held takes four; many such calls may be in
// flight at once.
constinit FreeBlocks<16> free_blocks;
constinit FreeBlocks<4> large_free_blocks;

Head* take(Size size) {
  return size < large_from ? free_blocks.take(size) : large_free_blocks.take(size);
}

void keep(Head* head) {
  head->mapped < large_from ? free_blocks.keep(head) : large_free_blocks.keep(head);
}

// Null where the system gives none: the number of a process's mappings is limited.
Head* map(Size size) {
  void* const place = detail::map_pages(static_cast<std::size_t>(size));
  if (place == nullptr) return nullptr;
  return new (place) Head{size};
}

}  // namespace

void* allocate_block(std::int64_t bytes) {
  const Size size = std::max<Size>(bytes, 0) + block_alignment;
  if (size >= mapped_from) {
    Head* head = take(rounded(size));
    if (head == nullptr) head = map(rounded(size));
    if (head != nullptr) return block_of(head);
    if (size > kept_to) throw std::bad_alloc();
  }
  return block_of(allocate_small(size));
}

void free_block(void* block) noexcept {
  if (block == nullptr) return;
  Head* const head = head_of(block);
  if (head->mapped > kept_to) return unmap(head);
  if (head->mapped > 0) return keep(head);
  ::operator delete(head, heap_alignment);
}

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
  detail::copy_bytes(grown, data_, static_cast<std::size_t>(size_));
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
  detail::copy_bytes(data_ + size_, more.data(), more.size());
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
