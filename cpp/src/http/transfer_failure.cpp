// The table, and which of its rows the end of a transfer is. Certificates are explained by
// OpenSSL's result codes, or by the text where another TLS library is in use.
#include "http/transfer_failure.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>

namespace tradingdata::detail {

namespace {

// By number where the headers that this is compiled with may be older than the library in use.
constexpr int curle_too_large = 100;  // since libcurl 8.6

constexpr Fault of_libcurl(int code) {
  return static_cast<Fault>(code);
}

bool mentions(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

using Fact = std::string (*)(const TransferEnd&);

// The other end of the connection.
std::string peer(const TransferEnd& end) {
  return end.at_proxy ? "the proxy " + end.proxy : end.host;
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

// The cause at the end of libcurl's message, whose beginning names the host again; "" where the
// cause only repeats that there was no connection or no such host.
std::string cause(const TransferEnd& end) {
  const std::size_t colon = end.detail.rfind(": ");
  const std::string last = colon == std::string::npos ? end.detail : end.detail.substr(colon + 2);
  const bool repeats =
      last == end.host || end.proxy.starts_with(last) || mentions(last, {"connect to"});
  return last.empty() || repeats ? "" : ": " + last;
}

// Not every version of libcurl names the port in its message.
std::string address(const TransferEnd& end) {
  return end.at_proxy || end.port.empty() ? peer(end) : end.host + " port " + end.port;
}

// The ways to log on that a proxy offers, such as "Negotiate or NTLM".
std::string schemes(const TransferEnd& end) {
  std::string names;
  for (const auto& [bit, name] :
       {std::pair(CURLAUTH_DIGEST, "Digest"), std::pair(CURLAUTH_NEGOTIATE, "Negotiate"),
        std::pair(CURLAUTH_NTLM, "NTLM")}) {
    const bool offered = (static_cast<unsigned long>(end.proxy_schemes) & bit) != 0;
    if (offered) names += (names.empty() ? "" : " or ") + std::string(name);
  }
  return names;
}

constexpr Fact host = [](const TransferEnd& end) { return end.host; };
constexpr Fact proxy = [](const TransferEnd& end) { return end.proxy; };
constexpr Fact status = [](const TransferEnd& end) { return std::to_string(end.proxy_status); };
constexpr Fact received = [](const TransferEnd& end) { return std::to_string(end.received); };
constexpr Fact max_body = [](const TransferEnd& end) { return std::to_string(end.max_body); };
constexpr Fact because = [](const TransferEnd& end) {
  return end.detail.empty() ? "" : ": " + end.detail;
};
constexpr Fact aside = [](const TransferEnd& end) {
  return end.detail.empty() ? "" : " (" + end.detail + ")";
};
constexpr Fact file = [](const TransferEnd& end) {
  return end.ca_file.empty() ? "" : " in " + end.ca_file;
};
constexpr Fact distrust = [](const TransferEnd& end) {
  return "no trusted connection to " + peer(end) + ": ";
};

// A sentence is made of texts, and of what is known of the transfer.
struct Piece {
  constexpr Piece() = default;
  constexpr Piece(const char* words) : text(words) {}
  constexpr Piece(Fact fact) : of(fact) {}

  const char* text = "";
  Fact of = nullptr;
};

struct Row {
  template <typename... Pieces>
  constexpr Row(Fault ends, ErrorKind error, Retry tried, const char* advised, Pieces... pieces)
      : fault(ends), kind(error), retry(tried), help(advised), sentence{pieces...} {}

  Fault fault;
  ErrorKind kind;
  Retry retry;
  const char* help;
  Piece sentence[7];
};

constexpr Row rows[] = {
    {Fault::deadline, ErrorKind::deadline, Retry::never, advice::timeout, "the deadline passed ",
     phase},
    {Fault::slow_connect, ErrorKind::connect, Retry::always, advice::slow_network,
     "connect_timeout passed ", phase},
    {Fault::lost_handshake, ErrorKind::connect, Retry::always, advice::network,
     "the connection to ", peer, " broke during the TLS handshake", because},
    {of_libcurl(CURLE_COULDNT_CONNECT), ErrorKind::connect, Retry::always, advice::network,
     "cannot connect to ", address, cause},
    {of_libcurl(CURLE_COULDNT_RESOLVE_HOST), ErrorKind::connect, Retry::once, advice::network,
     "cannot find the host ", host, cause},
    {of_libcurl(CURLE_COULDNT_RESOLVE_PROXY), ErrorKind::connect, Retry::once, advice::proxy,
     "cannot find the proxy ", proxy, cause},
    {of_libcurl(CURLE_PROXY), ErrorKind::connect, Retry::once, advice::proxy, "the proxy ", proxy,
     " did not connect to ", host, because},
    {Fault::proxy_password, ErrorKind::connect, Retry::never, advice::proxy, "the proxy ", proxy,
     " requires a user name and password (", status, ")"},
    {Fault::proxy_scheme, ErrorKind::connect, Retry::never, advice::proxy_login, "the proxy ",
     proxy, " requires ", schemes, " to log on (", status, "), of which this client has none"},
    {Fault::proxy_refused, ErrorKind::connect, Retry::never, advice::proxy, "the proxy ", proxy,
     " refused to connect to ", host, " (", status, ")"},
    {Fault::proxy_failed, ErrorKind::connect, Retry::always, advice::proxy, "the proxy ", proxy,
     " refused to connect to ", host, " (", status, ")"},

    {Fault::not_yet_valid, ErrorKind::tls, Retry::never, advice::clock, distrust,
     "the server's certificate is not yet valid", aside},
    {Fault::expired, ErrorKind::tls, Retry::never, advice::clock, distrust,
     "the server's certificate has expired", aside},
    {Fault::wrong_host, ErrorKind::tls, Retry::never, advice::base_url, distrust,
     "the server's certificate is for another host", aside},
    {Fault::unknown_authority, ErrorKind::tls, Retry::never, advice::ca_file, distrust,
     "the server's certificate is signed by an authority that is not trusted here", aside},
    {Fault::bad_certificate, ErrorKind::tls, Retry::never, advice::report, distrust,
     "the server's certificate was refused", aside},
    {of_libcurl(CURLE_ABORTED_BY_CALLBACK), ErrorKind::tls, Retry::never, advice::base_url,
     distrust,
     "the server's certificate names no host or address as its Subject Alternative Name, and a "
     "Common Name does not count"},
    {Fault::client_certificate, ErrorKind::tls, Retry::never, advice::base_url,
     "no TLS connection to ", peer,
     ": it requires a client certificate, which this client does not send", aside},
    {of_libcurl(CURLE_SSL_CACERT_BADFILE), ErrorKind::tls, Retry::never, advice::ca_file,
     "cannot read the CA certificates", file, because},
    {of_libcurl(CURLE_SSL_CONNECT_ERROR), ErrorKind::tls, Retry::never, advice::base_url,
     "no TLS connection to ", peer, " (TLS 1.2 or later is required)", because},

    {of_libcurl(CURLE_GOT_NOTHING), ErrorKind::transport, Retry::always, advice::report, peer,
     " closed the connection without a response"},
    {Fault::cut_body, ErrorKind::transport, Retry::always, advice::report,
     "incomplete body: the response ended after ", received, " bytes"},
    {of_libcurl(CURLE_RECV_ERROR), ErrorKind::transport, Retry::always, advice::report,
     "the connection to ", peer, " broke ", phase, because},
    {Fault::forked, ErrorKind::transport, Retry::always, advice::report,
     "the process was forked while the response was awaited"},
    {Fault::cut_head, ErrorKind::transport, Retry::always, advice::report,
     "incomplete response: its head ends too early"},
    {Fault::cut_gzip, ErrorKind::transport, Retry::always, advice::report,
     "incomplete body: the response's gzip data ends too early"},
    {Fault::bad_gzip, ErrorKind::transport, Retry::always, advice::report,
     "the response's gzip data is corrupt"},

    {of_libcurl(CURLE_UNSUPPORTED_PROTOCOL), ErrorKind::transport, Retry::never, advice::base_url,
     "the response is not HTTP/1.x", because},
    {of_libcurl(CURLE_WEIRD_SERVER_REPLY), ErrorKind::transport, Retry::never, advice::report,
     "the response is malformed", because},
    {Fault::not_gzip, ErrorKind::transport, Retry::never, advice::report,
     "the response is declared as gzip but is not"},
    {Fault::bad_length, ErrorKind::transport, Retry::never, advice::report,
     "the response's Content-Length is not a number of bytes"},
    {Fault::two_lengths, ErrorKind::transport, Retry::never, advice::report,
     "the response has two different Content-Lengths"},
    {Fault::transfer_encoding, ErrorKind::transport, Retry::never, advice::report,
     "the response has a transfer encoding that was not requested"},
    {Fault::content_encoding, ErrorKind::transport, Retry::never, advice::report,
     "the response has a content encoding that was not requested (only gzip was)"},
    {Fault::too_large, ErrorKind::transport, Retry::never, advice::max_body,
     "the response is larger than max_body (", max_body, " bytes)"},
    {Fault::large_head, ErrorKind::transport, Retry::never, advice::report,
     "the response's headers are larger than 256 KiB"},
    {of_libcurl(curle_too_large), ErrorKind::transport, Retry::never, advice::report,
     "the response has a header line longer than 100 kB", because},
    // libcurl before 8.6 has this code for a long header line too.
    {of_libcurl(CURLE_OUT_OF_MEMORY), ErrorKind::transport, Retry::never, advice::report,
     "out of memory, or a header line longer than 100 kB", because},
    // So short that the message itself needs no memory.
    {Fault::memory, ErrorKind::transport, Retry::never, advice::report, "out of memory"},
};

constexpr Row unknown(Fault::none, ErrorKind::transport, Retry::never, advice::report,
                      "the transfer failed", because);

// What a proxy's address may also mend, while the proxy has not connected.
constexpr Fault faults_of_proxies[] = {Fault::slow_connect, Fault::lost_handshake,
                                       of_libcurl(CURLE_COULDNT_CONNECT), Fault::wrong_host,
                                       of_libcurl(CURLE_SSL_CONNECT_ERROR)};

// Codes that mean the same here.
constexpr std::pair<int, Fault> aliases[] = {
    {CURLE_SSL_CIPHER, of_libcurl(CURLE_SSL_CONNECT_ERROR)},
    {CURLE_SSL_CERTPROBLEM, of_libcurl(CURLE_SSL_CONNECT_ERROR)},
    {CURLE_SSL_ENGINE_INITFAILED, of_libcurl(CURLE_SSL_CONNECT_ERROR)},
    {CURLE_SSL_ISSUER_ERROR, of_libcurl(CURLE_SSL_CONNECT_ERROR)},
    {CURLE_USE_SSL_FAILED, of_libcurl(CURLE_SSL_CONNECT_ERROR)},
    {CURLE_PARTIAL_FILE, Fault::cut_body},
    {CURLE_HTTP2, of_libcurl(CURLE_RECV_ERROR)},
    {CURLE_HTTP2_STREAM, of_libcurl(CURLE_RECV_ERROR)},
    {CURLE_SEND_ERROR, of_libcurl(CURLE_RECV_ERROR)},
    {CURLE_BAD_CONTENT_ENCODING, of_libcurl(CURLE_WEIRD_SERVER_REPLY)},
    {CURLE_FILESIZE_EXCEEDED, Fault::too_large},
};

// The service's end of a TLS connection reports that it wants a certificate of the client, which
// this client never has. With TLS 1.3 that comes after the handshake.
bool wants_certificate(const TransferEnd& end) {
  return mentions(end.detail, {"alert"}) &&
         mentions(end.detail, {"certificate", "Certificate", "unknown ca", "access denied"});
}

// The connection broke in the handshake, or the other end failed in it, which may pass: nothing is
// said of versions, ciphers or certificates. OpenSSL's words, Schannel's and those of GnuTLS.
bool lost_handshake(const TransferEnd& end) {
  return mentions(end.detail,
                  {"SSL_ERROR_SYSCALL", "reset", "unexpected eof", "alert internal error",
                   "failed to receive handshake", "non-properly terminated"});
}

Fault fault_of_certificate(const TransferEnd& end) {
  // OpenSSL's X509_V_ERR numbers, which are part of its ABI; other libraries only give text.
  constexpr long not_yet_valid = 9;
  constexpr long has_expired = 10;
  constexpr long self_signed = 18;
  constexpr long no_first_signature = 21;  // the numbers between are other kinds of no issuer
  constexpr long wrong_host = 62;
  const long result = end.verify_result;
  if (result == not_yet_valid || mentions(end.detail, {"not yet valid"})) {
    return Fault::not_yet_valid;
  }
  if (result == has_expired || mentions(end.detail, {"expired"})) return Fault::expired;
  if (result == wrong_host ||
      mentions(end.detail, {"subject name", "common name", "match", "not valid for", "hostname"})) {
    return Fault::wrong_host;
  }
  if ((result >= self_signed && result <= no_first_signature) ||
      mentions(end.detail, {"self", "issuer", "unknown", "unable to get"})) {
    return Fault::unknown_authority;
  }
  return Fault::bad_certificate;
}

Fault fault_of_refusal(const TransferEnd& end) {
  if (end.proxy_status >= 500) return Fault::proxy_failed;
  if (end.proxy_status != 407) return Fault::proxy_refused;
  const bool basic = (static_cast<unsigned long>(end.proxy_schemes) & CURLAUTH_BASIC) != 0;
  return basic || schemes(end).empty() ? Fault::proxy_password : Fault::proxy_scheme;
}

Fault fault_of(const TransferEnd& end) {
  if (end.code == CURLE_OPERATION_TIMEDOUT) {
    const bool connecting = !end.past_deadline && end.phase < Phase::first_byte;
    return connecting ? Fault::slow_connect : Fault::deadline;
  }
  // libcurl's code of a refused tunnel was RECV_ERROR, and is COULDNT_CONNECT in newer versions.
  if (end.proxy_status >= 300 && end.phase < Phase::first_byte) return fault_of_refusal(end);
  if (end.code == CURLE_PEER_FAILED_VERIFICATION) return fault_of_certificate(end);
  const auto* const alias = std::ranges::find(aliases, end.code, &std::pair<int, Fault>::first);
  const Fault fault = alias == std::end(aliases) ? of_libcurl(end.code) : alias->second;
  if (fault == of_libcurl(CURLE_SSL_CONNECT_ERROR) && lost_handshake(end)) {
    return Fault::lost_handshake;
  }
  const bool broke = fault == of_libcurl(CURLE_RECV_ERROR);
  return broke && wants_certificate(end) ? Fault::client_certificate : fault;
}

}  // namespace

Failure failure_of(Fault fault, const TransferEnd& end) {
  const auto* const found = std::ranges::find(rows, fault, &Row::fault);
  const Row& row = found == std::end(rows) ? unknown : *found;
  const bool mends = end.at_proxy && std::ranges::count(faults_of_proxies, fault) > 0;
  const bool timeout = fault == Fault::deadline || fault == Fault::slow_connect;
  std::string message;
  for (const Piece& piece : row.sentence) message += piece.of ? piece.of(end) : piece.text;
  return {row.kind, row.retry,   std::move(message), mends ? advice::proxy : row.help,
          timeout,  end.received};
}

Failure failure_of(const TransferEnd& end) {
  return failure_of(fault_of(end), end);
}

}  // namespace tradingdata::detail
