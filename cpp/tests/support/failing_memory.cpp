// Replaces operator new, so that a test can make the n-th allocation fail.
#include "support/failing_memory.hpp"

#include <cstdlib>
#include <new>

namespace {

constexpr int never = -1;
constinit thread_local int left = never;
constinit thread_local bool failed = false;

void* allocate(std::size_t size) noexcept {
  if (left == 0) {
    failed = true;
    return nullptr;
  }
  if (left > 0) --left;
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

namespace failing_memory {

void fail_after(int count) noexcept {
  failed = false;
  left = count;
}

bool stop() noexcept {
  left = never;
  return failed;
}

}  // namespace failing_memory

void* operator new(std::size_t size) {
  if (void* const memory = allocate(size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) {
  return operator new(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
