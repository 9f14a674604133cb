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
#include <sys/socket.h>
#include <unistd.h>
#endif

namespace platform {

#ifdef _WIN32

using Socket = SOCKET;
using Length = int;
using AddressLength = int;
constexpr Socket no_socket = INVALID_SOCKET;
constexpr int send_flags = 0;
constexpr int both_ways = SD_BOTH;

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

#else

using Socket = int;
using Length = std::size_t;
using AddressLength = socklen_t;
constexpr Socket no_socket = -1;
constexpr int send_flags = MSG_NOSIGNAL;
constexpr int both_ways = SHUT_RDWR;

inline Socket open_socket() {
  return ::socket(AF_INET, SOCK_STREAM, 0);
}

inline void close_socket(Socket socket) {
  ::close(socket);
}

inline void end_accept(Socket& listener) {
  ::shutdown(listener, SHUT_RDWR);
}

#endif

}  // namespace platform
