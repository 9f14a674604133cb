// One table from libcurl's result of a transfer to a failure. Certificates are explained by
// OpenSSL's result codes, or by the text where another TLS library is in use.
#include "http/transfer_failure.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace tradingdata::detail {

namespace {

// By number where the headers that this is compiled with may be older than the library in use.
constexpr int curle_too_large = 100;  // since libcurl 8.6

bool mentions(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

// The other end of the connection.
std::string peer_of(const TransferEnd& end) {
  return end.at_proxy ? "the proxy " + end.proxy : end.host;
}

std::string while_in(const TransferEnd& end) {
  switch (end.phase) {
    case Phase::lookup: return "while looking up " + peer_of(end);
    case Phase::connect: return "while connecting to " + peer_of(end);
    case Phase::handshake: return "during the TLS handshake with " + peer_of(end);
    case Phase::first_byte: return "while waiting for the response";
    case Phase::body: break;
  }
  return "while reading the response (" + std::to_string(end.received) + " bytes so far)";
}

// The cause at the end of libcurl's message, whose beginning names the host again; "" where the
// cause only repeats that there was no connection or no such host.
std::string cause_of(const TransferEnd& end) {
  const std::size_t colon = end.detail.rfind(": ");
  const std::string cause = colon == std::string::npos ? end.detail : end.detail.substr(colon + 2);
  const bool repeats =
      cause == end.host || end.proxy.starts_with(cause) || mentions(cause, {"connect to"});
  return cause.empty() || repeats ? "" : ": " + cause;
}

// The host, and the port where libcurl's message names it.
std::string address_of(const TransferEnd& end) {
  constexpr std::string_view mark = " port ";
  const std::size_t at = end.detail.find(mark);
  if (end.at_proxy || at == std::string::npos) return peer_of(end);
  const std::size_t last = end.detail.find_first_not_of("0123456789", at + mark.size());
  return end.host + end.detail.substr(at, last - at);
}

Failure refused_by_proxy(const TransferEnd& end) {
  const std::string status = " (" + std::to_string(end.proxy_status) + ")";
  const std::string proxy = "the proxy " + end.proxy;
  if (end.proxy_status == 407) {
    return {ErrorKind::connect, Retry::never, proxy + " requires a user name and password" + status,
            advice::proxy};
  }
  return {ErrorKind::connect, end.proxy_status >= 500 ? Retry::always : Retry::never,
          proxy + " refused to connect to " + end.host + status, advice::proxy};
}

// The service's end of a TLS connection reports that it wants a certificate of the client, which
// this client never has. With TLS 1.3 that comes after the handshake.
bool wants_certificate(const TransferEnd& end) {
  return mentions(end.detail, {"alert"}) &&
         mentions(end.detail, {"certificate", "Certificate", "unknown ca", "access denied"});
}

Failure bad_certificate(const TransferEnd& end) {
  // OpenSSL's X509_V_ERR numbers, which are part of its ABI; other libraries only give text.
  constexpr long not_yet_valid = 9;
  constexpr long has_expired = 10;
  constexpr long self_signed = 18;
  constexpr long no_first_signature = 21;  // the numbers between are other kinds of no issuer
  constexpr long wrong_host = 62;
  const long result = end.verify_result;
  const auto refused = [&](const char* why, const char* help = advice::none) -> Failure {
    return {ErrorKind::tls, Retry::never,
            "no trusted connection to " + peer_of(end) + ": the server's certificate " + why +
                (end.detail.empty() ? "" : " (" + end.detail + ")"),
            help};
  };
  if (result == not_yet_valid || mentions(end.detail, {"not yet valid"})) {
    return refused("is not yet valid", advice::clock);
  }
  if (result == has_expired || mentions(end.detail, {"expired"})) {
    return refused("has expired", advice::clock);
  }
  if (result == wrong_host ||
      mentions(end.detail, {"subject name", "common name", "match", "not valid for", "hostname"})) {
    return refused("is for another host", end.at_proxy ? advice::proxy : advice::base_url);
  }
  if ((result >= self_signed && result <= no_first_signature) ||
      mentions(end.detail, {"self", "issuer", "unknown", "unable to get"})) {
    return refused("is signed by an authority that is not trusted here", advice::ca_file);
  }
  return refused("was refused");
}

Failure timed_out(const TransferEnd& end) {
  if (end.past_deadline) {
    return {ErrorKind::deadline, Retry::never, "the deadline passed " + while_in(end), advice::none,
            true};
  }
  if (end.phase >= Phase::first_byte) {
    return {ErrorKind::transport, Retry::always, "no data for 20 s " + while_in(end), advice::none,
            true};
  }
  return {ErrorKind::connect, Retry::always, "connect_timeout passed " + while_in(end),
          end.at_proxy ? advice::proxy : advice::network, true};
}

Failure explained(const TransferEnd& end) {
  const std::string because = end.detail.empty() ? "" : ": " + end.detail;
  const std::string peer = peer_of(end);
  const char* const where = end.at_proxy ? advice::proxy : advice::network;
  switch (end.code) {
    case CURLE_OPERATION_TIMEDOUT: return timed_out(end);
    case CURLE_COULDNT_CONNECT:
      return {ErrorKind::connect, Retry::always,
              "cannot connect to " + address_of(end) + cause_of(end), where};
    case CURLE_COULDNT_RESOLVE_HOST:
      return {ErrorKind::connect, Retry::once, "cannot find the host " + end.host + cause_of(end),
              advice::network};
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {ErrorKind::connect, Retry::once, "cannot find the proxy " + end.proxy + cause_of(end),
              advice::proxy};
    case CURLE_PROXY:
      return {ErrorKind::connect, Retry::once,
              "the proxy " + end.proxy + " did not connect to " + end.host + because,
              advice::proxy};
    case CURLE_PEER_FAILED_VERIFICATION: return bad_certificate(end);
    case CURLE_ABORTED_BY_CALLBACK:
      return {ErrorKind::tls, Retry::never,
              "no trusted connection to " + peer +
                  ": the server's certificate names no host or address as its Subject "
                  "Alternative Name, and a Common Name does not count",
              advice::base_url};
    case CURLE_SSL_CACERT_BADFILE:
      return {ErrorKind::tls, Retry::never,
              "cannot read the CA certificates" + (end.ca_file.empty() ? "" : " in " + end.ca_file),
              advice::ca_file};
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_USE_SSL_FAILED:
      return {ErrorKind::tls, Retry::never,
              "no TLS connection to " + peer + " (TLS 1.2 or later is required)" + because,
              end.at_proxy ? advice::proxy : advice::base_url};
    case CURLE_GOT_NOTHING:
      return {ErrorKind::transport, Retry::always,
              peer + " closed the connection without a response"};
    case CURLE_PARTIAL_FILE:
      return {
          ErrorKind::transport, Retry::always,
          "incomplete body: the response ended after " + std::to_string(end.received) + " bytes"};
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
      if (wants_certificate(end)) {
        return {ErrorKind::tls, Retry::never,
                "no TLS connection to " + peer + ": it requires a client certificate, which this " +
                    "client does not send (" + end.detail + ")",
                advice::base_url};
      }
      return {ErrorKind::transport, Retry::always,
              "the connection to " + peer + " broke " + while_in(end) + because};
    case CURLE_UNSUPPORTED_PROTOCOL:
      return {ErrorKind::transport, Retry::never, "the response is not HTTP/1.x" + because,
              advice::base_url};
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WEIRD_SERVER_REPLY:
      return {ErrorKind::transport, Retry::never, "the response is malformed" + because};
    case CURLE_FILESIZE_EXCEEDED:
      return {ErrorKind::transport, Retry::never, too_large(end.max_body), advice::max_body};
    case curle_too_large:
      return {ErrorKind::transport, Retry::never,
              "the response has a header line longer than 100 kB" + because};
    case CURLE_OUT_OF_MEMORY:  // libcurl before 8.6 has this code for a long header line too
      return {ErrorKind::transport, Retry::never,
              "out of memory, or a header line longer than 100 kB" + because};
    default: return {ErrorKind::transport, Retry::never, "the transfer failed" + because};
  }
}

}  // namespace

std::string too_large(std::int64_t max_body) {
  return "the response is larger than max_body (" + std::to_string(max_body) +
         " bytes, decompressed)";
}

Failure failure_of(const TransferEnd& end) {
  // libcurl's code of a refused tunnel was RECV_ERROR, and is COULDNT_CONNECT in newer versions.
  const bool refused = end.proxy_status >= 300 && end.phase < Phase::first_byte;
  Failure failure =
      refused && end.code != CURLE_OPERATION_TIMEDOUT ? refused_by_proxy(end) : explained(end);
  failure.bytes_received = end.received;
  return failure;
}

}  // namespace tradingdata::detail
