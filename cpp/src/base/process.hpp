// What must hold across fork(): which process this is, and a lock that no child finds taken.
#pragma once

#include <cstdint>
#include <mutex>

namespace tradingdata::detail {

std::int64_t process_id();

// Guards the few words that threads share (pools, tokens). A fork waits until it is free, so the
// child's copy of what it guards is whole. Hold it for moves and copies only.
std::mutex& process_mutex();

// Whether the process is ending, and how many threads are inside a transfer.
bool ending();
void end();
int threads_inside();

class Inside {
 public:
  Inside();
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

}  // namespace tradingdata::detail
