#include "base/process.hpp"

#include <atomic>

#ifdef _WIN32
#include <process.h>
#else
#include <pthread.h>
#include <unistd.h>
#endif

namespace tradingdata::detail {

namespace {

std::mutex shared_mutex;
std::atomic<bool> is_ending = false;
std::atomic<int> inside = 0;

#ifndef _WIN32
void after_fork_in_child() {
  inside = 0;  // the threads that were stayed with the parent
  shared_mutex.unlock();
}
#endif

}  // namespace

std::int64_t process_id() {
#ifdef _WIN32
  return _getpid();
#else
  return getpid();
#endif
}

std::mutex& process_mutex() {
#ifndef _WIN32
  static const int registered = pthread_atfork([] { shared_mutex.lock(); },
                                               [] { shared_mutex.unlock(); }, after_fork_in_child);
  static_cast<void>(registered);
#endif
  return shared_mutex;
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
