// POSIX: pipes, fork handlers and mappings. On other systems this file is empty.
#ifndef _WIN32

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/platform/platform.hpp"

namespace tradingdata::detail::platform {

std::int64_t process_id() {
  return getpid();
}

int at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
  return pthread_atfork(before, in_parent, in_child);
}

Pipe open_pipe() {
  int ends[2];
  if (pipe(ends) != 0) {
    throw Error(ErrorKind::connect, "cannot create a pipe: this process has too many open files");
  }
  for (const int end : ends) {
    fcntl(end, F_SETFL, O_NONBLOCK);
    fcntl(end, F_SETFD, FD_CLOEXEC);
  }
  return {ends[0], ends[1]};
}

void close_pipe(const Pipe& pipe) noexcept {
  ::close(pipe.read_end);
  ::close(pipe.write_end);
}

void write_byte(const Pipe& pipe) noexcept {
  const char mark = 1;
  [[maybe_unused]] const auto written = write(pipe.write_end, &mark, 1);
}

void read_byte(const Pipe& pipe) noexcept {
  char mark;
  [[maybe_unused]] const auto taken = read(pipe.read_end, &mark, 1);
}

void* map_pages(std::size_t size) noexcept {
  void* const pages =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
#ifdef MADV_HUGEPAGE
  constexpr std::size_t huge_from = 4 << 20;  // gains more than it wastes in the last page
  // Advice only: a refusal costs nothing.
  if (size >= huge_from) madvise(pages, size, MADV_HUGEPAGE);
#endif
  return pages;
}

void unmap_pages(void* pages, std::size_t size) noexcept {
  munmap(pages, size);
}

}  // namespace tradingdata::detail::platform

#endif
