// A raw socket server on loopback: a test decides every byte that it sends.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/platform.hpp"

namespace loopback {

using platform::Socket;

class Connection {
 public:
  explicit Connection(Socket socket) : socket_(socket) {}
  ~Connection() { platform::close_socket(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // One request, head and body; "" once the client has closed.
  std::string receive() {
    while (true) {
      const std::size_t head = pending_.find("\r\n\r\n");
      if (head != std::string::npos) {
        const std::size_t mark = pending_.find("Content-Length: ");
        const std::size_t body = mark < head ? std::stoul(pending_.substr(mark + 16)) : 0;
        if (pending_.size() >= head + 4 + body) {
          const std::string request = pending_.substr(0, head + 4 + body);
          pending_.erase(0, request.size());
          return request;
        }
      }
      char bytes[4096];
      const auto count = ::recv(socket_, bytes, sizeof bytes, 0);
      if (count <= 0) return "";
      pending_.append(bytes, static_cast<std::size_t>(count));
    }
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto size = static_cast<platform::Length>(bytes.size());
      const auto count = ::send(socket_, bytes.data(), size, platform::send_flags);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

 private:
  Socket socket_;
  std::string pending_;
};

class Server {
 public:
  // `handler` runs once a connection, on a thread of its own.
  explicit Server(std::function<void(Connection&)> handler) : handler_(std::move(handler)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    platform::AddressLength size = sizeof address;
    if (::bind(listener_, raw, size) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, raw, &size) != 0) {
      throw std::runtime_error("cannot start a loopback server");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }

  ~Server() {
    stopping_ = true;
    platform::end_accept(listener_);
    acceptor_.join();
    {
      const std::scoped_lock lock(mutex_);
      for (const Socket socket : sockets_) ::shutdown(socket, platform::both_ways);
    }
    for (std::thread& thread : threads_) thread.join();
    platform::close_socket(listener_);
  }

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int connections() const { return accepted_; }

 private:
  void accept_all() {
    while (!stopping_) {
      const Socket socket = ::accept(listener_, nullptr, nullptr);
      if (socket == platform::no_socket) return;
      const std::scoped_lock lock(mutex_);
      sockets_.push_back(socket);  // to shut it down at the end, whatever the handler does
      threads_.emplace_back([this, socket, number = accepted_++] {
        Connection connection(socket);
        handler_(connection);
        const std::scoped_lock own(mutex_);
        sockets_[static_cast<std::size_t>(number)] = platform::no_socket;
      });
    }
  }

  std::function<void(Connection&)> handler_;
  Socket listener_ = platform::open_socket();
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> accepted_ = 0;
  std::thread acceptor_;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::vector<Socket> sockets_;
};

inline std::string response(std::string_view body, std::string_view more_headers = "") {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(more_headers) + "\r\n" +
         std::string(body);
}

constexpr std::string_view empty_book = R"({"data":[],"message":"Success","status":"success"})";

// Responds to every request on every connection with `reply`.
inline std::function<void(Connection&)> always(std::string reply) {
  return [reply = std::move(reply)](Connection& connection) {
    while (!connection.receive().empty() && connection.send(reply)) {
    }
  };
}

}  // namespace loopback
