// Memory cut from a few blocks.
#include <doctest/doctest.h>

#include <cstring>
#include <set>
#include <vector>

#include "base/memory.hpp"

using namespace tradingdata;

namespace {

// As many buffers as a frame of text columns has.
std::vector<SharedBlock> fill(Arena& arena, std::int64_t size) {
  std::vector<SharedBlock> pieces;
  for (int byte = 0; byte < 54; ++byte) {
    pieces.push_back(arena.take(size));
    std::memset(pieces.back().get(), byte, static_cast<std::size_t>(size));
  }
  return pieces;
}

std::set<std::byte*> places(std::int64_t size) {
  Arena arena(54 * size);
  std::set<std::byte*> found;
  for (const SharedBlock& piece : fill(arena, size)) found.insert(piece.get());
  return found;
}

}  // namespace

TEST_CASE("pieces are aligned, do not overlap, and outlive their arena") {
  for (const std::int64_t expected : {0, 1, 1 << 20, 100 << 20}) {
    for (const std::int64_t size : {0, 1, 63, 64, 80'000, 2'000'000}) {
      std::vector<SharedBlock> pieces;
      {
        Arena arena(expected);
        pieces = fill(arena, size);
      }
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        const std::byte* const piece = pieces[i].get();
        CHECK(reinterpret_cast<std::uintptr_t>(piece) % block_alignment == 0);
        for (std::int64_t at = 0; at < size; at += 509) CHECK(piece[at] == std::byte(i));
        if (size > 0) CHECK(piece[size - 1] == std::byte(i));
      }
    }
  }
}

TEST_CASE("an export uses the memory that the last one freed") {
  for (int i = 0; i < 32; ++i) free_block(allocate_block(64 << 10));  // empties the pool
  const auto first = places(80'000);
  CHECK(places(80'000) == first);
}
