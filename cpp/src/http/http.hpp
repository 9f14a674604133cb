// Requests, responses, and the transport that carries them without blocking its caller.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/consumer.hpp"
#include "base/error.hpp"
#include "base/memory.hpp"
#include "base/platform.hpp"
#include "http/address.hpp"
#include "privacy/tokens.hpp"

namespace tradingdata {

using CallId = std::int64_t;

enum class Method : std::uint8_t { get, post };

struct Request {
  Method method = Method::get;
  std::string url;
  std::vector<std::string> headers;     // "Name: value", sent in this order
  std::shared_ptr<const Secret> token;  // sent after them as Authorization, if any
  std::string body;                     // of a POST
  std::shared_ptr<const Tokens> known;  // never shown of a response, beside `token`

  ConsumerSource consumer{};  // of a response with status 200; may be none

  // Finds what must not be shown of a response; may be null.
  std::shared_ptr<TokenSearch> secrets() const;
  std::string target() const;  // "POST /api/v1/trade/book": for messages, without the query
};

struct Response {
  int status = 0;
  std::unique_ptr<Consumer> consumer;  // which has seen the body; may be none
  Buffer body;                         // decoded; only its head unless the status is 200
  std::optional<std::string> retry_after;
  std::optional<std::string> date;
  std::optional<std::string> location;
  bool limits = false;  // a refusal whose headers name a rate limit or a challenge
};

enum class Retry : std::uint8_t { never, once, always };

// Why there was no complete response.
struct Failure {
  ErrorKind kind = ErrorKind::transport;
  Retry retry = Retry::never;
  std::string message;  // one line: what happened
  const char* help = advice::none;
  bool timeout = false;
};

struct Arrival {
  CallId id = 0;
  std::variant<Response, Failure> what;
};

struct TimeLimits {
  Duration total{};
  Duration connect{};
};

// Many requests in flight on one thread. Only `wake` may be called from another one.
class Transport {
 public:
  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // `request` must live until the call has arrived or was cancelled. Throws Error.
  virtual void start(CallId id, const Request& request, const TimeLimits& limits) = 0;

  // Moves bytes until something arrived (appended), `until` passed or `wake` was called; true for
  // the last. With `until` in the past it does what can be done without waiting.
  virtual bool pump(TimePoint until, std::vector<Arrival>& arrivals) = 0;

  virtual void cancel(CallId id) noexcept = 0;  // closes the connection; unknown ids are no error
  virtual void wake() noexcept = 0;
};

struct CurlOptions {
  std::string host;         // for messages
  std::string port;         // the same
  bool allow_http = false;  // for loopback
  ProxyChoice proxy;        // the environment is never read here
  // The roots to trust: a file, which may be replaced meanwhile, or its content where libcurl
  // cannot read it; or folders of hashed PEM files. Without any, the system's store of roots, or
  // libcurl's own default.
  std::string ca_file;
  std::string ca_pem;
  std::string ca_folders;
  std::string user_agent = "tradingdata";
  std::int64_t max_body = 256LL << 20;  // decoded bytes
  std::int64_t max_connections = 100;
};

// Throws Error (configuration) where the libcurl found at run time lacks what safety needs.
std::unique_ptr<Transport> make_curl_transport(const CurlOptions& options);

// Seconds since the epoch of an HTTP date in any of its three forms (RFC 9110, section 5.6.7), and
// of what else libcurl recognises as a date; nothing for other text.
std::optional<std::int64_t> parse_http_date(const std::string& text);

// Of the libraries in use, e.g. "libcurl/7.88.1 OpenSSL/3.0.17 isa-l/2.30.0".
std::string transport_version();

}  // namespace tradingdata
