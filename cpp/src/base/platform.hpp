// What the core takes from the operating system: clocks, randomness and descriptors; and the rules
// for forks and the end of the process. No other file of the core asks which system it is on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace tradingdata {

// Deadlines, back-off and pace count on the steady clock only; the wall clock may jump.
using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

// Sources of time and randomness, replaceable in tests: delays are tested to the microsecond.
struct Sources {
  std::function<TimePoint()> now;
  std::function<std::int64_t()> wall_micros;  // since the epoch, UTC
  std::function<double()> random;             // uniform in [0, 1)
};

// The machine's own; safe on many threads and in a forked child.
Sources system_sources();

double to_seconds(Duration duration);

// Clamped to [0, ten years], so that adding it to a time never overflows.
Duration from_seconds(double seconds);

namespace detail {

// Pages from the system, zeroed and not yet touched; null where it gives none. A large mapping gets
// huge pages where there are such.
void* map_pages(std::size_t size) noexcept;
void unmap_pages(void* pages, std::size_t size) noexcept;

// Whether a read of the socket would not wait: bytes are there, or the connection's end.
bool readable(std::intptr_t socket) noexcept;

// Four numbers with dots: nothing that a resolver could interpret differently.
bool is_ipv4(const std::string& host) noexcept;

// The local port of a connected TCP socket; 0 where there is none.
int local_port(std::intptr_t socket) noexcept;

// Ends a TCP connection whose peer acknowledges nothing for `patience`, neither data nor probes,
// which begin after a third of it. A peer that is slow to respond acknowledges both. In seconds,
// at least one, but for the first on Linux. No effect where the system has no such setting.
void notice_dead_peer(std::intptr_t socket, Duration patience) noexcept;

// A file descriptor that is readable while it is raised: a pipe with at most one byte in it, since
// event loops on POSIX systems can watch any descriptor. Those of Windows watch sockets only.
class Notifier {
 public:
  Notifier();  // throws Error where no descriptor is available
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  int fd() const { return read_end_; }  // -1 on Windows: there, Worker::wait serves
  void raise() noexcept;                // and lower, in turn
  void lower() noexcept;

 private:
  int read_end_ = -1;
  int write_end_ = -1;
};

// A forked child has only the thread that forked, so whatever another thread had locked or was
// initialising stays so in the child: nothing in the library is initialised on first use, and a
// fork waits for the mutex and the blockers below.

// How many forks lie between this process and the one that loaded the library. Whoever compares it
// with what it was knows whether it is in a child, which shares its parent's connections and has
// none of its threads.
inline constinit std::atomic<int> fork_depth = 0;

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

// Whether the process is ending, and by this thread, and how many threads are inside a transfer.
inline constinit std::atomic<bool> ending = false;
inline constinit thread_local bool ends_process = false;
inline constinit std::atomic<int> threads_inside = 0;

class Inside {
 public:
  Inside() { ++threads_inside; }
  ~Inside() { --threads_inside; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

}  // namespace detail

}  // namespace tradingdata
