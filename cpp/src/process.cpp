#include "process.hpp"

#ifdef _WIN32
#include <process.h>
#else
#include <pthread.h>
#include <unistd.h>
#endif

namespace tradingdata::detail {

namespace {

std::mutex shared_mutex;

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
                                               [] { shared_mutex.unlock(); },
                                               [] { shared_mutex.unlock(); });
  static_cast<void>(registered);
#endif
  return shared_mutex;
}

}  // namespace tradingdata::detail
