// Turns libcurl's result of a transfer into a failure: its kind, whether to retry, and its message.
#include "http/transfer_failure.hpp"

#include <string_view>

#include "http/certificate_fault.hpp"

namespace tradingdata::detail {

namespace {

std::string while_in(const FaultContext& context) {
  switch (context.phase) {
    case Phase::lookup: return "while looking up " + context.host;
    case Phase::connect: return "while connecting to " + context.host;
    case Phase::handshake: return "during the TLS handshake with " + context.host;
    case Phase::first_byte: return "while waiting for the response";
    case Phase::body: break;
  }
  return "while reading the response (" + std::to_string(context.received) + " bytes so far)";
}

// The cause at the end of libcurl's message, whose beginning names the host again; "" where the
// cause only repeats that there was no connection or no such host.
std::string cause_of(const FaultContext& context) {
  const std::size_t colon = context.detail.rfind(": ");
  const std::string cause =
      colon == std::string::npos ? context.detail : context.detail.substr(colon + 2);
  const bool repeats = cause == context.host || cause.find("connect to") != std::string::npos;
  return cause.empty() || repeats ? "" : ": " + cause;
}

// The host, and the port where libcurl's message names it.
std::string address_of(const FaultContext& context) {
  constexpr std::string_view mark = " port ";
  const std::size_t at = context.detail.find(mark);
  if (at == std::string::npos) return context.host;
  const std::size_t end = context.detail.find_first_not_of("0123456789", at + mark.size());
  return context.host + context.detail.substr(at, end - at);
}

Failure proxy_failure(const FaultContext& context) {
  if (context.proxy_status == 407) {
    return {ErrorKind::connect, Retry::never, "the proxy requires a user name and password (407)",
            hint::proxy};
  }
  const bool passing = context.proxy_status >= 500;
  return {ErrorKind::connect, passing ? Retry::always : Retry::never,
          "the proxy refused to connect to " + context.host + " (" +
              std::to_string(context.proxy_status) + ")",
          hint::proxy};
}

}  // namespace

std::string too_large(std::int64_t max_body) {
  return "the response is larger than max_body (" + std::to_string(max_body) +
         " bytes, decompressed)";
}

Failure failure_of(WireFault fault, const FaultContext& context) {
  const std::string& host = context.host;
  const std::string because = context.detail.empty() ? "" : ": " + context.detail;
  switch (fault) {
    case WireFault::no_connection:
      return {ErrorKind::connect, Retry::always,
              "cannot connect to " + address_of(context) + cause_of(context), hint::network};
    case WireFault::no_host:
      return {ErrorKind::connect, Retry::once, "cannot find the host " + host + cause_of(context),
              hint::network};
    case WireFault::no_proxy:
      return {ErrorKind::connect, Retry::once, "cannot reach the proxy" + because, hint::proxy};
    case WireFault::proxy_refused: return proxy_failure(context);
    case WireFault::handshake:
      return {ErrorKind::tls, Retry::never,
              "no TLS connection to " + host + " (TLS 1.2 or later is required)" + because,
              hint::base_url};
    case WireFault::certificate: {
      const CertificateFault found = certificate_fault(context.verify_result, context.detail);
      return {ErrorKind::tls, Retry::never,
              "no trusted connection to " + host + ": " + found.text +
                  (context.detail.empty() ? "" : " (" + context.detail + ")"),
              found.hint};
    }
    case WireFault::ca_file:
      return {ErrorKind::tls, Retry::never,
              "cannot read the CA certificates" +
                  (context.ca_file.empty() ? "" : " in " + context.ca_file),
              hint::ca_file};
    case WireFault::empty_reply:
      return {ErrorKind::transport, Retry::always,
              host + " closed the connection without a response"};
    case WireFault::cut_body:
      return {ErrorKind::transport, Retry::always,
              "incomplete body: the response ended after " + std::to_string(context.received) +
                  " bytes"};
    case WireFault::broken_connection:
      return {ErrorKind::transport, Retry::always,
              "the connection to " + host + " broke " + while_in(context) + because};
    case WireFault::not_http:
      return {ErrorKind::transport, Retry::never, "the response is not HTTP/1.x" + because,
              hint::base_url};
    case WireFault::malformed:
      return {ErrorKind::transport, Retry::never, "the response is malformed" + because};
    case WireFault::too_large:
      return {ErrorKind::transport, Retry::never, too_large(context.max_body), hint::max_body};
    case WireFault::no_memory:
      return {ErrorKind::transport, Retry::never,
              "out of memory, or a header line longer than 100 kB" + because};
    case WireFault::connect_timeout:
      return {ErrorKind::connect, Retry::always, "connect_timeout passed " + while_in(context),
              hint::network, true};
    case WireFault::deadline:
      return {ErrorKind::deadline, Retry::never, "the deadline passed " + while_in(context),
              hint::none, true};
    case WireFault::stall:
      return {ErrorKind::transport, Retry::always, "no data for 20 s " + while_in(context),
              hint::none, true};
    case WireFault::other: break;
  }
  return {ErrorKind::transport, Retry::never, "the transfer failed" + because};
}

}  // namespace tradingdata::detail
