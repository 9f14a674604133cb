// Locks and counters that are valid again in a forked child, in which only the forking thread
// exists.
#include "base/platform/process.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "base/platform/platform.hpp"

namespace tradingdata::detail {

namespace {

constinit std::mutex shared_mutex;
constinit std::atomic<bool> is_ending = false;
constinit std::atomic<int> inside = 0;
constinit std::atomic<int> fork_blockers = 0;  // grows only under the mutex
constinit std::atomic<int> forks_waiting = 0;  // no further blocker begins before these

// Polled and not signalled: a condition variable could not be used in the child.
void pause() {
  std::this_thread::sleep_for(std::chrono::microseconds(50));
}

// The mutex is free between two attempts: a thread may need it before its blocker ends.
void before_fork() {
  ++forks_waiting;
  while (true) {
    shared_mutex.lock();
    if (fork_blockers == 0) return;
    shared_mutex.unlock();
    pause();
  }
}

void after_fork_in_parent() {
  --forks_waiting;
  shared_mutex.unlock();
}

void after_fork_in_child() {
  inside = 0;  // the threads that were inside stayed with the parent, and so did those that fork
  forks_waiting = 0;
  shared_mutex.unlock();
}

// While the library is loaded, and not at the first use, which a fork could interrupt.
[[maybe_unused]] const int registered =
    platform::at_fork(before_fork, after_fork_in_parent, after_fork_in_child);

}  // namespace

std::int64_t process_id() {
  return platform::process_id();
}

std::mutex& process_mutex() {
  return shared_mutex;
}

ForkBlocker::ForkBlocker() noexcept {
  while (true) {
    {
      const std::scoped_lock lock(shared_mutex);
      if (forks_waiting == 0) {
        ++fork_blockers;
        return;
      }
    }
    pause();
  }
}

ForkBlocker::~ForkBlocker() {
  --fork_blockers;
}

bool ending() {
  return is_ending;
}
void end() {
  is_ending = true;
}
int threads_inside() {
  return inside;
}

Inside::Inside() {
  ++inside;
}
Inside::~Inside() {
  --inside;
}

}  // namespace tradingdata::detail
