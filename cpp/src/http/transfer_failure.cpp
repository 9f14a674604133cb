#include "http/transfer_failure.hpp"

#include <string_view>

#include "http/tls_advice.hpp"

namespace tradingdata::detail {

namespace {

std::string while_in(const FaultContext& context) {
  switch (context.phase) {
    case Phase::lookup: return "while looking up " + context.host;
    case Phase::connect: return "while connecting to " + context.host;
    case Phase::handshake: return "during the TLS handshake with " + context.host;
    case Phase::first_byte: return "while waiting for the answer";
    case Phase::body: break;
  }
  return "while reading the answer (" + std::to_string(context.received) + " bytes so far)";
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
  const std::string status = std::to_string(context.proxy_status);
  if (context.proxy_status == 407) {
    return {ErrorKind::connect, Retry::never,
            "the proxy wants a user name and password (407): put them into proxy="};
  }
  const bool passing = context.proxy_status >= 500;
  return {ErrorKind::connect, passing ? Retry::always : Retry::never,
          "the proxy refused to connect to " + context.host + " (" + status +
              "): check proxy=, or pass proxy=\"\" to go without one"};
}

}  // namespace

Failure failure_of(WireFault fault, const FaultContext& context) {
  const std::string& host = context.host;
  const std::string because = context.detail.empty() ? "" : ": " + context.detail;
  switch (fault) {
    case WireFault::no_connection:
      return {ErrorKind::connect, Retry::always,
              "cannot connect to " + address_of(context) + cause_of(context) +
                  "; check base_url, network and firewall"};
    case WireFault::no_host:
      return {ErrorKind::connect, Retry::once,
              "cannot find the host " + host + cause_of(context) +
                  "; check base_url and the network's DNS"};
    case WireFault::no_proxy:
      return {
          ErrorKind::connect, Retry::once,
          "cannot reach the proxy" + because + "; check proxy= or the environment's https_proxy"};
    case WireFault::proxy_refused: return proxy_failure(context);
    case WireFault::handshake:
      return {ErrorKind::tls, Retry::never,
              "no TLS connection to " + host + because +
                  "; check that base_url's port speaks TLS 1.2 or later"};
    case WireFault::certificate:
      return {ErrorKind::tls, Retry::never,
              "no trusted connection to " + host + ": " +
                  certificate_advice(context.verify_result, context.detail) +
                  (context.detail.empty() ? "" : " (" + context.detail + ")")};
    case WireFault::ca_file:
      return {ErrorKind::tls, Retry::never,
              "cannot read the CA certificates" +
                  (context.ca_file.empty() ? "" : " in " + context.ca_file) +
                  ": pass ca_file= with the path of a readable PEM file"};
    case WireFault::empty_reply:
      return {ErrorKind::transport, Retry::always,
              host + " closed the connection without an answer"};
    case WireFault::cut_body:
      return {ErrorKind::transport, Retry::always,
              "incomplete body: the answer was cut after " + std::to_string(context.received) +
                  " bytes"};
    case WireFault::broken_connection:
      return {ErrorKind::transport, Retry::always,
              "the connection to " + host + " broke " + while_in(context) + because};
    case WireFault::not_http:
      return {ErrorKind::transport, Retry::never,
              "the answer is not HTTP/1.x" + because + "; check the host and port in base_url"};
    case WireFault::malformed:
      return {ErrorKind::transport, Retry::never, "the answer is malformed" + because};
    case WireFault::too_large:
      return {ErrorKind::transport, Retry::never,
              "the answer is larger than max_body (" + std::to_string(context.max_body) +
                  " bytes, unpacked); raise max_body= if such an answer is right"};
    case WireFault::no_memory:
      return {ErrorKind::transport, Retry::never,
              "out of memory, or a header line beyond 100 kB" + because};
    case WireFault::connect_timeout:
      return {ErrorKind::connect, Retry::always,
              "connect_timeout passed " + while_in(context) + "; check base_url and the network",
              true};
    case WireFault::deadline:
      return {ErrorKind::deadline, Retry::never, "the time was up " + while_in(context), true};
    case WireFault::stall:
      return {ErrorKind::transport, Retry::always, "nothing came for 20 s " + while_in(context),
              true};
    case WireFault::other: break;
  }
  return {ErrorKind::transport, Retry::never, "the transfer failed" + because};
}

}  // namespace tradingdata::detail
