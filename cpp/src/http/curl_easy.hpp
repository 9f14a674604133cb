// One libcurl easy handle and all that a transfer on it points to. CURL is void to its users.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "http/http.hpp"
#include "http/response_reader.hpp"
#include "http/transfer_failure.hpp"

namespace tradingdata::detail {

// From 1 ms to a day, as libcurl takes a time limit.
long ceil_milliseconds(Duration duration);

struct HeaderNode;  // curl_slist, made in place round lines that others own

class EasyHandle {
 public:
  // `options` must live as long as transfers are started. Throws Error where libcurl does not take
  // an option: nothing is sent under weaker rules.
  explicit EasyHandle(const CurlOptions& options);
  ~EasyHandle();

  static EasyHandle& of(void* easy);

  void* raw() const { return easy_.get(); }
  CallId id() const { return id_; }

  void prepare(CallId id, const Request& request, const TimeLimits& limits);
  void forget_request();
  Arrival arrival(int code);  // a CURLcode

 private:
  // libcurl allocates its buffer for each transfer and frees it afterwards. A large one costs a
  // small response two page faults each time. It saves a large one most of its reads, and each read
  // of a full socket also sends the acknowledgement that lets the server go on.
  static constexpr long small_buffer = 16L * 1024;
  static constexpr long large_buffer = 1024L * 1024;
  static constexpr std::int64_t large_response = 256 * 1024;

  void set_fixed_options();
  Failure failure(int code) const;
  bool uses_proxy(const std::string& address) const;
  // Called when a connection is ready, and before anything is sent over it.
  static int on_connected(void* self, char* to, char* from, int to_port, int from_port) noexcept;
  bool ended_by_closing(int code) const;
  bool connected() const { return phase_ >= Phase::first_byte; }

  const CurlOptions* options_;
  std::unique_ptr<void, void (*)(void*)> easy_;
  CallId id_ = 0;
  const Request* request_ = nullptr;
  std::vector<HeaderNode> headers_;
  Phase phase_ = Phase::lookup;  // that callbacks report
  Receiver receiver_;
  std::array<char, 256> error_text_{};  // CURL_ERROR_SIZE
  long buffer_size_ = small_buffer;     // bytes; the large one from the first large response on
  TimePoint deadline_;
};

}  // namespace tradingdata::detail
