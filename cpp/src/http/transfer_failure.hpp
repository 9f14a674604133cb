// The ways in which a transfer can fail, independent of the HTTP library, and their messages.
#pragma once

#include <cstdint>
#include <string>

#include "http/http.hpp"

namespace tradingdata::detail {

enum class WireFault : std::uint8_t {
  no_connection,
  no_host,
  no_proxy,
  proxy_refused,
  handshake,
  certificate,
  ca_file,
  empty_reply,
  cut_body,
  broken_connection,
  not_http,
  malformed,
  too_large,
  no_memory,
  connect_timeout,
  deadline,
  stall,
  other,
};

enum class Phase : std::uint8_t { lookup, connect, handshake, first_byte, body };

struct FaultContext {
  std::string host;
  std::string ca_file;
  std::string detail;  // the HTTP library's own words
  Phase phase = Phase::lookup;
  long verify_result = 0;  // OpenSSL's, of the certificate
  long proxy_status = 0;   // of the CONNECT
  std::int64_t max_body = 0;
  std::int64_t received = 0;
};

std::string too_large(std::int64_t max_body);
Failure failure_of(WireFault fault, const FaultContext& context);

}  // namespace tradingdata::detail
