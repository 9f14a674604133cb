// What differs between the systems that the tests run on: their sockets.
#pragma once

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>
#else
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#include <chrono>

namespace platform {

using std::chrono::milliseconds;

#ifdef _WIN32

using Socket = SOCKET;
using Length = int;
using AddressLength = int;
constexpr Socket no_socket = INVALID_SOCKET;
constexpr int send_flags = 0;
constexpr int both_ways = SD_BOTH;

constexpr bool watches_descriptors = false;  // Windows' event loops watch sockets only

inline Socket open_socket() {
  static const int started = [] {
    WSADATA data;
    return WSAStartup(MAKEWORD(2, 2), &data);
  }();
  const Socket socket = started == 0 ? ::socket(AF_INET, SOCK_STREAM, 0) : no_socket;
  // Otherwise another program may bind the same port.
  const BOOL exclusive = TRUE;
  ::setsockopt(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, reinterpret_cast<const char*>(&exclusive),
               sizeof exclusive);
  return socket;
}

inline void close_socket(Socket socket) {
  ::closesocket(socket);
}

// Makes an `accept` in another thread return; the caller joins that thread, then calls `close`.
inline void end_accept(Socket& listener) {
  ::closesocket(listener);
  listener = no_socket;
}

inline bool readable(Socket socket, milliseconds patience) {
  WSAPOLLFD entry{socket, POLLIN, 0};
  return ::WSAPoll(&entry, 1, static_cast<int>(patience.count())) > 0;
}

#else

using Socket = int;
using Length = std::size_t;
using AddressLength = socklen_t;
constexpr Socket no_socket = -1;
constexpr int send_flags = MSG_NOSIGNAL;
constexpr int both_ways = SHUT_RDWR;

constexpr bool watches_descriptors = true;

inline Socket open_socket() {
  return ::socket(AF_INET, SOCK_STREAM, 0);
}

inline void close_socket(Socket socket) {
  ::close(socket);
}

inline void end_accept(Socket& listener) {
  ::shutdown(listener, SHUT_RDWR);
}

inline bool readable(Socket socket, milliseconds patience) {
  pollfd entry{socket, POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>(patience.count())) > 0;
}

#endif

}  // namespace platform
