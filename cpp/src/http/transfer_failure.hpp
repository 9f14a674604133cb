// Why a transfer failed: one table of kinds, retries, messages and advice.
#pragma once

#include <cstdint>
#include <string>

#include "http/http.hpp"

namespace tradingdata::detail {

enum class Phase : std::uint8_t { lookup, connect, handshake, first_byte, body };

// A value above 0 is libcurl's own code.
enum class Fault : int {
  none = 0,
  deadline = -100,
  slow_connect,
  lost_handshake,
  proxy_password,
  proxy_scheme,
  proxy_refused,
  proxy_failed,
  not_yet_valid,
  expired,
  wrong_host,
  unknown_authority,
  bad_certificate,
  client_certificate,
  large_head,
  cut_head,
  cut_body,
  bad_length,
  two_lengths,
  transfer_encoding,
  content_encoding,
  too_large,
  not_gzip,
  bad_gzip,
  cut_gzip,
  memory,
  forked
};

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
  long verify_result = 0;  // OpenSSL's, of the certificate
  long proxy_status = 0;   // of the CONNECT
  long proxy_schemes = 0;  // that the proxy offers to log on with: libcurl's bits
  std::int64_t max_body = 0;
  std::int64_t received = 0;
};

Failure failure_of(const TransferEnd& end);
Failure failure_of(Fault fault, const TransferEnd& end = {});

}  // namespace tradingdata::detail
