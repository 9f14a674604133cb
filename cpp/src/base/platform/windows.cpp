// Windows: no pipes, because event loops there watch sockets only, and no fork. On other systems
// this file is empty.
#ifdef _WIN32

#define NOMINMAX
#include <windows.h>

#include "base/platform/platform.hpp"

namespace tradingdata::detail::platform {

std::int64_t process_id() {
  return GetCurrentProcessId();
}

int at_fork(void (*)(), void (*)(), void (*)()) noexcept {
  return 0;
}

Pipe open_pipe() {
  return {};
}

void close_pipe(const Pipe&) noexcept {}
void write_byte(const Pipe&) noexcept {}
void read_byte(const Pipe&) noexcept {}

void* map_pages(std::size_t size) noexcept {
  return VirtualAlloc(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void unmap_pages(void* pages, std::size_t) noexcept {
  VirtualFree(pages, 0, MEM_RELEASE);
}

}  // namespace tradingdata::detail::platform

#endif
