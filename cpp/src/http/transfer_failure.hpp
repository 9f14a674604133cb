// Why a transfer failed, whether to try it again, and its message.
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
  std::string proxy;  // its address, where the connection goes through one
  std::string ca_file;
  std::string detail;  // libcurl's own words
  Phase phase = Phase::lookup;
  bool at_proxy = false;  // the proxy had not connected to the host
  bool past_deadline = false;
  long verify_result = 0;  // OpenSSL's, of the certificate
  long proxy_status = 0;   // of the CONNECT
  std::int64_t max_body = 0;
  std::int64_t received = 0;
};

std::string too_large(std::int64_t max_body);
Failure failure_of(const TransferEnd& end);

}  // namespace tradingdata::detail
