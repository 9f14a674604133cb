// Forks and the end of the process: which process this is, and what a fork in another thread waits
// for. A child has only the thread that forked, so whatever another thread had locked or was
// initialising stays so in the child: nothing here or anywhere in the library is initialised on
// first use, and a fork waits for the two things below.
#pragma once

#include <cstdint>
#include <mutex>

namespace tradingdata::detail {

std::int64_t process_id();

// Guards the few words that threads share (pools, tokens). A fork waits until it is free, so the
// child finds it free and what it guards consistent. Hold it for moves and copies only.
std::mutex& process_mutex();

// A fork in another thread waits while one of these lives. For calls into libraries that have locks
// of their own and reset none of them in a child: libcurl takes one in every curl_easy_init, and
// OpenSSL has dozens. Never nested, since a new one waits for forks that wait; never held while
// waiting for the network.
class ForkBlocker {
 public:
  ForkBlocker() noexcept;
  ~ForkBlocker();
  ForkBlocker(const ForkBlocker&) = delete;
  ForkBlocker& operator=(const ForkBlocker&) = delete;
};

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
