#include "base/notifier.hpp"

#include "base/error.hpp"

#ifndef _WIN32
#include <fcntl.h>
#include <unistd.h>
#endif

namespace tradingdata::detail {

#ifdef _WIN32

// Windows' event loops watch sockets only: there, Worker::wait serves.
Notifier::Notifier() = default;
Notifier::~Notifier() = default;
void Notifier::raise() noexcept {}
void Notifier::lower() noexcept {}

#else

Notifier::Notifier() {
  int ends[2];
  if (pipe(ends) != 0) {
    throw Error(ErrorKind::connect, "no pipe to be had: this process has too many open files");
  }
  read_end_ = ends[0];
  write_end_ = ends[1];
  for (const int end : ends) {
    fcntl(end, F_SETFL, O_NONBLOCK);
    fcntl(end, F_SETFD, FD_CLOEXEC);
  }
}

Notifier::~Notifier() {
  ::close(read_end_);
  ::close(write_end_);
}

void Notifier::raise() noexcept {
  const char mark = 1;
  [[maybe_unused]] const auto written = write(write_end_, &mark, 1);
}

void Notifier::lower() noexcept {
  char mark;  // there is one: it is raised once before it is lowered
  [[maybe_unused]] const auto taken = read(read_end_, &mark, 1);
}

#endif

}  // namespace tradingdata::detail
