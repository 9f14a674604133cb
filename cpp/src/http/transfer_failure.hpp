// What the end of a transfer that libcurl reports as failed means. What is wrong with a response
// that libcurl accepts is said where it is found, in response_reader.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "http/http.hpp"

namespace tradingdata::detail {

enum class Phase : std::uint8_t { lookup, connect, handshake, first_byte, body };

// How a transfer ended.
struct TransferEnd {
  int code = 0;  // libcurl's CURLcode
  std::string host;
  std::string port;
  std::string proxy;  // its address, where the connection goes through one
  std::string ca_file;
  std::string detail;  // libcurl's own words
  Phase phase = Phase::lookup;
  bool at_proxy = false;  // the proxy had not connected to the host
  bool past_deadline = false;
  long proxy_status = 0;  // of the CONNECT
  std::int64_t max_body = 0;
  std::int64_t received = 0;
};

Failure failure_of(const TransferEnd& end);

// A response that was cut or damaged on the way, which is requested again; and one that the service
// sends so, which is not.
Failure damaged(std::string message);
Failure malformed(std::string message, const char* help = advice::report);

// What libcurl and the receiver may both find.
Failure cut_body(std::int64_t received);
Failure too_large(std::int64_t max_body);

}  // namespace tradingdata::detail
