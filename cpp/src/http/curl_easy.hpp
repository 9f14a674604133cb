// One libcurl easy handle and all that a transfer on it points to. CURL is void to its users.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "http/http.hpp"
#include "http/response_reader.hpp"
#include "http/transfer_failure.hpp"

namespace tradingdata::detail {

// From 1 ms to a day, as libcurl takes a time limit.
long ceil_milliseconds(Duration duration);

struct HeaderNode;  // curl_slist, made in place round lines that others own

// Both ends of a connection as text, in place: what is made of them in a callback must need no
// memory.
using Ends = std::array<char, 112>;

// The sockets of open connections. Not every libcurl says which socket a request is about to use,
// but each says its addresses.
class OpenSockets {
 public:
  struct Socket {
    std::intptr_t id;
    Duration patience{};  // with an other end that is silent, as last set
  };

  void add(const Ends& ends, std::intptr_t socket) noexcept;
  Socket* find(const Ends& ends) noexcept;  // null where there is none

 private:
  // Those of closed connections are not removed one by one.
  static constexpr std::size_t most = 1000;

  std::map<Ends, Socket> sockets_;
};

// The file of root certificates that a transport trusts, which may be replaced at any time:
// companies rotate the authority of their proxy while programs run.
class Roots {
 public:
  explicit Roots(std::string file) : file_(std::move(file)) {}

  // Looks whether the file was replaced, and returns its generation, from 1.
  int look();

 private:
  // Nothing where the file cannot be read: libcurl says why.
  using Stamp = std::optional<std::pair<std::filesystem::file_time_type, std::uintmax_t>>;

  std::string file_;
  Stamp stamp_;
  int generation_ = 0;
};

class EasyHandle {
 public:
  // `options`, `open` and `roots` must live as long as transfers are started. Throws Error where
  // libcurl does not take an option: nothing is sent under weaker rules.
  EasyHandle(const CurlOptions& options, OpenSockets& open, Roots& roots);
  ~EasyHandle();

  static EasyHandle& of(void* easy);

  void* raw() const { return easy_.get(); }
  CallId id() const { return id_; }

  // `look_up` looks names up again.
  void prepare(CallId id, const Request& request, const TimeLimits& limits, bool look_up);
  // Whether the transfer ended before its request, to be prepared and started again: the name has
  // been looked up, and from now on `connect_timeout` counts; or something that nobody asked for
  // had arrived on the kept connection.
  bool starts_again() const { return looked_up_now_ || refused_connection_; }
  void prepare_again();
  void forget_request();
  Arrival arrival(int code);  // a CURLcode

 private:
  // libcurl allocates its buffer for each transfer and frees it afterwards. A large one costs a
  // small response two page faults each time. It saves a large one most of its reads, and each read
  // of a full socket also sends the acknowledgement that lets the server go on.
  static constexpr long small_buffer = 16L * 1024;
  static constexpr long large_buffer = 1024L * 1024;
  static constexpr std::int64_t large_response = 256 * 1024;
  static constexpr long kept_addresses = 60;  // seconds

  void set_fixed_options();
  void set_roots();
  void notice_replaced_roots();
  Failure failure(int code) const;
  bool uses_proxy(const std::string& address) const;
  // Called when a connection is ready, and before anything is sent over it.
  static int on_connected(void* self, char* to, char* from, int to_port, int from_port) noexcept;
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  bool read_head() noexcept;
  bool ended_by_closing(int code) const;
  bool connected() const { return phase_ >= Phase::first_byte; }
  bool opens(std::intptr_t socket) noexcept;
  bool may_send(const Ends& ends, int own_port) noexcept;
  void set_time_limits();

  const CurlOptions* options_;
  OpenSockets* open_;
  Roots* roots_;
  int roots_generation_ = 0;  // that libcurl's options name
  std::unique_ptr<void, void (*)(void*)> easy_;
  CallId id_ = 0;
  const Request* request_ = nullptr;
  std::vector<HeaderNode> headers_;
  Phase phase_ = Phase::lookup;  // that callbacks report
  Receiver receiver_;
  std::array<char, 256> error_text_{};  // CURL_ERROR_SIZE
  long buffer_size_ = small_buffer;     // bytes; the large one from the first large response on
  TimePoint deadline_;
  Duration connect_limit_{};                  // from the end of the lookup on
  Duration patience_{};                       // with a connection whose other end is silent
  std::array<std::intptr_t, 8> new_sockets_;  // the last ones that this transfer opened
  std::size_t opened_ = 0;
  bool looked_up_ = false;      // the name, for the connection that may be opened now
  bool looked_up_now_ = false;  // in the transfer that ends for it
  bool refused_connection_ = false;
};

}  // namespace tradingdata::detail
