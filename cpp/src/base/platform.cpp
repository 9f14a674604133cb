// The two kinds of systems, POSIX and Windows; then what is the same on both.
#include "base/platform.hpp"

#ifdef _WIN32
#define NOMINMAX
#include <winsock2.h>
#include <ws2tcpip.h>
// After the header of sockets, which it would replace.
#include <windows.h>
#else
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <random>
#include <thread>

#include "base/error.hpp"

namespace tradingdata {

namespace detail {

#ifdef _WIN32

using Socket = SOCKET;

void* map_pages(std::size_t size) noexcept {
  return VirtualAlloc(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void unmap_pages(void* pages, std::size_t) noexcept {
  VirtualFree(pages, 0, MEM_RELEASE);
}

bool readable(std::intptr_t socket) noexcept {
  WSAPOLLFD asked{static_cast<Socket>(socket), POLLRDNORM, 0};
  return WSAPoll(&asked, 1, 0) != 0;
}

Notifier::Notifier() = default;
Notifier::~Notifier() = default;
void Notifier::raise() noexcept {}
void Notifier::lower() noexcept {}

#else

using Socket = int;

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

bool readable(std::intptr_t socket) noexcept {
  pollfd asked{static_cast<Socket>(socket), POLLIN, 0};
  return poll(&asked, 1, 0) != 0;
}

// The ends neither block nor survive an exec.
Notifier::Notifier() {
  int ends[2];
  if (pipe(ends) != 0) {
    throw Error(ErrorKind::connect, "cannot create a pipe: this process has too many open files");
  }
  for (const int end : ends) {
    fcntl(end, F_SETFL, O_NONBLOCK);
    fcntl(end, F_SETFD, FD_CLOEXEC);
  }
  read_end_ = ends[0];
  write_end_ = ends[1];
}

Notifier::~Notifier() {
  close(read_end_);
  close(write_end_);
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

bool is_ipv4(const std::string& host) noexcept {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

int local_port(std::intptr_t socket) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  if (getsockname(static_cast<Socket>(socket), place, &size) != 0) return 0;
  // The port is at the same place in the addresses of IPv4 and IPv6.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

void notice_dead_peer(std::intptr_t socket, Duration patience) noexcept {
  constexpr Duration second = std::chrono::seconds(1);
  // A system may refuse a value; then it keeps its own.
  const auto set_tcp = [socket](int option, Duration value, Duration unit) {
    const int count =
        static_cast<int>(std::max<Duration::rep>((value + unit - Duration(1)) / unit, 1));
    setsockopt(static_cast<Socket>(socket), IPPROTO_TCP, option,
               reinterpret_cast<const char*>(&count), sizeof count);
  };
#ifdef TCP_USER_TIMEOUT
  set_tcp(TCP_USER_TIMEOUT, patience, std::chrono::milliseconds(1));
#endif
#ifdef TCP_KEEPIDLE
  set_tcp(TCP_KEEPIDLE, patience / 3, second);
#elif defined(TCP_KEEPALIVE)
  set_tcp(TCP_KEEPALIVE, patience / 3, second);
#endif
#ifdef TCP_KEEPINTVL
  set_tcp(TCP_KEEPINTVL, patience / 6, second);
#endif
#ifdef TCP_KEEPCNT
  set_tcp(TCP_KEEPCNT, Duration(3), Duration(1));
#endif
#ifdef TCP_RXT_CONNDROPTIME
  set_tcp(TCP_RXT_CONNDROPTIME, patience, second);
#endif
#ifdef TCP_MAXRT
  set_tcp(TCP_MAXRT, patience, second);
#endif
}

namespace {

constinit std::mutex shared_mutex;
constinit std::atomic<int> fork_blockers = 0;  // grows only under the mutex
constinit std::atomic<int> forks_waiting = 0;  // no further blocker begins before these

// Polled and not signalled: a condition variable could not be used in the child.
void pause_for_fork() {
  std::this_thread::sleep_for(std::chrono::microseconds(50));
}

#ifndef _WIN32

// The mutex is free between two attempts: a thread may need it before its blocker ends.
void before_fork() {
  ++forks_waiting;
  while (true) {
    shared_mutex.lock();
    if (fork_blockers == 0) return;
    shared_mutex.unlock();
    pause_for_fork();
  }
}

void after_fork_in_parent() {
  --forks_waiting;
  shared_mutex.unlock();
}

void after_fork_in_child() {
  // The threads that were inside stayed with the parent, and so did those that fork.
  threads_inside = 0;
  forks_waiting = 0;
  ++fork_depth;
  shared_mutex.unlock();
}

// While the library is loaded, and not at the first use, which a fork could interrupt.
[[maybe_unused]] const int registered =
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);

#endif

}  // namespace

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
    pause_for_fork();
  }
}

ForkBlocker::~ForkBlocker() {
  --fork_blockers;
}

}  // namespace detail

namespace {

std::int64_t wall_micros_now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Called once per retry, so the system's own source is fast enough, and unlike a seeded generator
// it does not give forked children the same jitter.
double system_random() {
  std::random_device device;
  return std::uniform_real_distribution<double>(0.0, 1.0)(device);
}

}  // namespace

Sources system_sources() {
  return {std::chrono::steady_clock::now, wall_micros_now, system_random};
}

double to_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

Duration from_seconds(double seconds) {
  constexpr double ten_years = 3600.0 * 24 * 3653;
  const double clamped = seconds > 0 ? std::min(seconds, ten_years) : 0.0;  // NaN gives 0
  return std::chrono::round<Duration>(std::chrono::duration<double>(clamped));
}

}  // namespace tradingdata
