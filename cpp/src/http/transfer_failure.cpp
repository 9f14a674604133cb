// A sentence, a retry and an advice for each of libcurl's codes. Certificates are explained by the
// words of the TLS library.
#include "http/transfer_failure.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace tradingdata::detail {

namespace {

bool mentions(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

Failure unconnected(Retry retry, std::string message, const char* help) {
  return {ErrorKind::connect, retry, std::move(message), help};
}

Failure untrusted(std::string message, const char* help) {
  return {ErrorKind::tls, Retry::never, std::move(message), help};
}

// The other end of the connection.
std::string peer(const TransferEnd& end) {
  return end.at_proxy ? "the proxy " + end.proxy : end.host;
}

// What the proxy's address may mend, while the proxy has not connected.
const char* advice_for_peer(const TransferEnd& end, const char* otherwise) {
  return end.at_proxy ? advice::proxy : otherwise;
}

std::string phase(const TransferEnd& end) {
  switch (end.phase) {
    case Phase::lookup: return "while looking up " + peer(end);
    case Phase::connect: return "while connecting to " + peer(end);
    case Phase::handshake: return "during the TLS handshake with " + peer(end);
    case Phase::first_byte: return "while waiting for the response";
    case Phase::body: break;
  }
  return "while reading the response (" + std::to_string(end.received) + " bytes so far)";
}

std::string because(const TransferEnd& end) {
  return end.detail.empty() ? "" : ": " + end.detail;
}

// The cause at the end of libcurl's message, whose beginning names the host again; "" where the
// cause only repeats that there was no connection or no such host.
std::string cause(const TransferEnd& end) {
  const std::size_t colon = end.detail.rfind(": ");
  const std::string last = colon == std::string::npos ? end.detail : end.detail.substr(colon + 2);
  const bool repeats =
      last == end.host || end.proxy.starts_with(last) || mentions(last, {"connect to"});
  return last.empty() || repeats ? "" : ": " + last;
}

Failure of_timeout(const TransferEnd& end) {
  if (!end.past_deadline && end.phase < Phase::first_byte) {
    return {ErrorKind::connect, Retry::always, "connect_timeout passed " + phase(end),
            advice_for_peer(end, advice::slow_network), true};
  }
  return {ErrorKind::deadline, Retry::never, "the deadline passed " + phase(end), advice::timeout,
          true};
}

Failure of_refusing_proxy(const TransferEnd& end) {
  const std::string status = " (" + std::to_string(end.proxy_status) + ")";
  if (end.proxy_status == 407) {
    return unconnected(Retry::never,
                       "the proxy " + end.proxy + " requires a user name and password" + status,
                       advice::proxy_login);
  }
  return unconnected(end.proxy_status >= 500 ? Retry::always : Retry::never,
                     "the proxy " + end.proxy + " refused to connect to " + end.host + status,
                     advice::proxy);
}

Failure of_certificate(const TransferEnd& end) {
  const auto refused = [&](const char* why, const char* help) -> Failure {
    const std::string aside = end.detail.empty() ? "" : " (" + end.detail + ")";
    return untrusted(
        "no trusted connection to " + peer(end) + ": the server's certificate " + why + aside,
        help);
  };
  if (mentions(end.detail, {"not yet valid"})) return refused("is not yet valid", advice::clock);
  if (mentions(end.detail, {"expired"})) return refused("has expired", advice::clock);
  if (mentions(end.detail, {"subject name", "common name", "match", "not valid for", "hostname"})) {
    return refused("is for another host", advice_for_peer(end, advice::base_url));
  }
  if (mentions(end.detail, {"self", "issuer", "unknown", "unable to"})) {
    return refused("is signed by an authority that is not trusted here", advice::ca_file);
  }
  return refused("was refused", advice::report);
}

Failure of_handshake(const TransferEnd& end) {
  // The connection broke, or the other end failed, which may pass: nothing is said of versions,
  // ciphers or certificates. OpenSSL's words, Schannel's and those of GnuTLS.
  if (mentions(end.detail, {"SSL_ERROR_SYSCALL", "reset", "unexpected eof", "alert internal error",
                            "failed to receive handshake", "non-properly terminated"})) {
    return unconnected(
        Retry::always,
        "the connection to " + peer(end) + " broke during the TLS handshake" + because(end),
        advice_for_peer(end, advice::network));
  }
  return untrusted(
      "no TLS connection to " + peer(end) + " (TLS 1.2 or later is required)" + because(end),
      advice_for_peer(end, advice::base_url));
}

Failure of_broken_connection(const TransferEnd& end) {
  // The service's end of a TLS connection reports that it wants a certificate of the client, which
  // this client never has. With TLS 1.3 that comes after the handshake.
  if (mentions(end.detail, {"alert"}) &&
      mentions(end.detail, {"certificate", "Certificate", "unknown ca", "access denied"})) {
    return untrusted("no TLS connection to " + peer(end) +
                         ": it requires a client certificate, which this client does not send (" +
                         end.detail + ")",
                     advice::base_url);
  }
  return damaged("the connection to " + peer(end) + " broke " + phase(end) + because(end));
}

}  // namespace

Failure failure_of(const TransferEnd& end) {
  // By number, since the headers that this is compiled with may be older than the library in use.
  constexpr int curle_too_large = 100;  // since libcurl 8.6
  // libcurl's code of a refused tunnel was RECV_ERROR, and is COULDNT_CONNECT in newer versions.
  const bool tunnelling = end.phase < Phase::first_byte && end.code != CURLE_OPERATION_TIMEDOUT;
  if (tunnelling && end.proxy_status >= 300) return of_refusing_proxy(end);
  switch (end.code) {
    case CURLE_OPERATION_TIMEDOUT: return of_timeout(end);
    case CURLE_COULDNT_CONNECT: {
      // Not every version of libcurl names the port in its message.
      const bool named = end.at_proxy || end.port.empty();
      return unconnected(
          Retry::always,
          "cannot connect to " + peer(end) + (named ? "" : " port " + end.port) + cause(end),
          advice_for_peer(end, advice::network));
    }
    case CURLE_COULDNT_RESOLVE_HOST:
      return unconnected(Retry::once, "cannot find the host " + end.host + cause(end),
                         advice::network);
    case CURLE_COULDNT_RESOLVE_PROXY:
      return unconnected(Retry::once, "cannot find the proxy " + end.proxy + cause(end),
                         advice::proxy);
    case CURLE_PROXY:
      return unconnected(
          Retry::once, "the proxy " + end.proxy + " did not connect to " + end.host + because(end),
          advice::proxy);

    case CURLE_PEER_FAILED_VERIFICATION: return of_certificate(end);
    case CURLE_SSL_CACERT_BADFILE: {
      const std::string file = end.ca_file.empty() ? "" : " in " + end.ca_file;
      return untrusted("cannot read the CA certificates" + file + because(end), advice::ca_file);
    }
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_USE_SSL_FAILED:
    case CURLE_SSL_CONNECT_ERROR: return of_handshake(end);

    case CURLE_GOT_NOTHING: return damaged(peer(end) + " closed the connection without a response");
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR: return of_broken_connection(end);
    case CURLE_PARTIAL_FILE: return cut_body(end.received);

    case CURLE_UNSUPPORTED_PROTOCOL:
      return malformed("the response is not HTTP/1.x" + because(end), advice::base_url);
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WEIRD_SERVER_REPLY: return malformed("the response is malformed" + because(end));
    case CURLE_FILESIZE_EXCEEDED: return too_large(end.max_body);
    case curle_too_large:
      return malformed("the response has a header line longer than 100 kB" + because(end));
    case CURLE_OUT_OF_MEMORY:  // libcurl before 8.6 has this code for a long header line too
      return malformed("out of memory, or a header line longer than 100 kB" + because(end));
    default: return malformed("the transfer failed" + because(end));
  }
}

Failure damaged(std::string message) {
  return {ErrorKind::transport, Retry::always, std::move(message), advice::report};
}

Failure malformed(std::string message, const char* help) {
  return {ErrorKind::transport, Retry::never, std::move(message), help};
}

Failure cut_body(std::int64_t received) {
  return damaged("incomplete body: the response ended after " + std::to_string(received) +
                 " bytes");
}

Failure too_large(std::int64_t max_body) {
  return malformed("the response is larger than max_body (" + std::to_string(max_body) + " bytes)",
                   advice::max_body);
}

}  // namespace tradingdata::detail
