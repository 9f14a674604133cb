// What differs between POSIX systems and Windows; no other file of the core asks which one it is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tradingdata::detail::platform {

std::int64_t process_id();

// Has every fork call these; the result is 0. Does nothing where a process cannot fork.
int at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

// A pipe whose ends neither block nor survive an exec. Both are -1 on Windows, whose event loops
// watch sockets only.
struct Pipe {
  int read_end = -1;
  int write_end = -1;
};
Pipe open_pipe();  // throws Error where no descriptor is available
void close_pipe(const Pipe& pipe) noexcept;
void write_byte(const Pipe& pipe) noexcept;
void read_byte(const Pipe& pipe) noexcept;

// Pages from the system, zeroed and not yet touched; null where it gives none. A large mapping gets
// huge pages where there are such.
void* map_pages(std::size_t size) noexcept;
void unmap_pages(void* pages, std::size_t size) noexcept;

}  // namespace tradingdata::detail::platform
