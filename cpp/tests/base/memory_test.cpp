// Memory for bodies and columns.

#include <doctest/doctest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "base/memory.hpp"

using namespace tradingdata;

namespace {

constexpr std::int64_t sizes[] = {0,       1,       63,      64,      65,       4096,     1 << 16,
                                  100'000, 1 << 19, 1 << 20, 3 << 20, 15 << 20, 17 << 20, 40 << 20};

void fill(void* block, std::int64_t size, int byte) {
  std::memset(block, byte, static_cast<std::size_t>(size));
}

bool holds(const void* block, std::int64_t size, int byte) {
  const auto* const bytes = static_cast<const unsigned char*>(block);
  for (std::int64_t i = 0; i < size; i += 997) {
    if (bytes[i] != byte) return false;
  }
  return size == 0 || bytes[size - 1] == byte;
}

}  // namespace

TEST_CASE("blocks are aligned, writable to their last byte, and no two of them are one") {
  for (int round = 0; round < 3; ++round) {  // the second meets what the first has freed
    std::vector<void*> blocks;
    for (const std::int64_t size : sizes) {
      blocks.push_back(allocate_block(size));
      CHECK(reinterpret_cast<std::uintptr_t>(blocks.back()) % block_alignment == 0);
      fill(blocks.back(), size, static_cast<int>(blocks.size()));
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      CHECK(holds(blocks[i], sizes[i], static_cast<int>(i + 1)));
      free_block(blocks[i]);
    }
  }
  free_block(nullptr);
}

TEST_CASE("what cannot be had is bad_alloc") {
  CHECK_THROWS_AS(allocate_block(std::int64_t{1} << 60), std::bad_alloc);
}

TEST_CASE("threads that take and free blocks at once never hold the same one") {
  const auto work = [](int byte) {
    bool sound = true;
    for (int i = 0; i < 200; ++i) {
      const std::int64_t size = (1 << 20) + i * 1000;
      void* const block = allocate_block(size);
      fill(block, size, byte);
      sound = sound && holds(block, size, byte);
      free_block(block);
    }
    return sound;
  };
  std::vector<char> sound(4, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] { sound[static_cast<std::size_t>(i)] = work(i + 1); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(sound == std::vector<char>(4, 1));
}
