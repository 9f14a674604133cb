// The one exception type of the core. The kind selects the class that Python raises, the message
// says what happened, and the advice what the user can do.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace tradingdata {

enum class ErrorKind : std::uint8_t {
  configuration,   // before any request
  transport,       // no complete response: the general case
  connect,         // ... no connection
  tls,             // ... no trusted connection
  deadline,        // ... not in time
  cancelled,       // ... the caller gave up
  closed,          // ... the client was closed
  status,          // an HTTP status other than 200
  bad_request,     // ... 400, 405, 422
  authentication,  // ... 401, 403
  not_found,       // ... 404
  rate_limit,      // ... 429
  server,          // ... 5xx
  service,         // HTTP 200, and the service reports a failure
  decode,          // HTTP 200, and the body is not what the service documents
};

// What to do, for a script and a terminal alike: it names the argument and the variable. It follows
// the message wherever that is shown.
namespace advice {
inline constexpr const char* none = "";
inline constexpr const char* access_token = "pass `access_token` or set TRADINGDATA_ACCESS_TOKEN";
inline constexpr const char* base_url = "check `base_url` or TRADINGDATA_BASE_URL";
inline constexpr const char* ca_file =
    "name the PEM file of the authorities that you trust as `ca_file` or in SSL_CERT_FILE";
inline constexpr const char* arguments =
    "check the arguments of the call, and `base_url` or TRADINGDATA_BASE_URL";
inline constexpr const char* clock = "check this machine's clock, or notify the service";
inline constexpr const char* fewer_requests = "make fewer requests, or pass a `rate_limit`";
inline constexpr const char* max_body = "pass a larger `max_body` if such a response is right";
inline constexpr const char* network =
    "check `base_url` or TRADINGDATA_BASE_URL, DNS, the network and its firewall";
inline constexpr const char* network_login = "log in to this network in a browser, then try again";
inline constexpr const char* slow_network =
    "check the network and its firewall, or pass a longer `connect_timeout`";
inline constexpr const char* token_text =
    "check that `access_token` or TRADINGDATA_ACCESS_TOKEN has nothing but the token";
inline constexpr const char* new_token =
    "pass a new `access_token` or set TRADINGDATA_ACCESS_TOKEN to one";
inline constexpr const char* permissions = "check the account's permissions";
inline constexpr const char* report = "try again later, or ask the operator of the service";
inline constexpr const char* proxy =
    "check `proxy` or the environment's https_proxy; a `proxy` of \"\" connects directly";
inline constexpr const char* proxy_login =
    "write them into `proxy`, or log on through a local proxy where it wants NTLM, Negotiate or "
    "Digest";
inline constexpr const char* saved_body = "pass the complete body of a successful response";
inline constexpr const char* timeout =
    "try again later, make fewer requests, or pass a longer `timeout`";
inline constexpr const char* try_later = "try again later";
inline constexpr const char* url_format =
    "pass an address like https://api.example.com as `base_url` or in TRADINGDATA_BASE_URL";
}  // namespace advice

class Error : public std::runtime_error {
 public:
  Error(ErrorKind what_kind, const std::string& message, const char* what_to_do = advice::none)
      : std::runtime_error(message), kind(what_kind), help(what_to_do) {}

  ErrorKind kind;
  const char* help;                    // of `advice`
  bool retryable = false;              // the same call may be tried again
  bool passing = false;                // a later call may succeed
  bool incomplete = false;             // the body ended inside the document
  int status_code = 0;                 // 0: there was no response
  int attempts = 0;                    // 0: nothing was sent
  double elapsed = 0;                  // seconds over all attempts
  std::optional<double> retry_after;   // seconds
  std::optional<std::int64_t> offset;  // bytes into the body
  std::string path;                    // JSON path, e.g. $.data[3].quantity
  std::string service_message;         // the envelope's message, where there was one
  std::string body;                    // the head of the response, redacted and capped

  // The response's date, in seconds since the epoch.
  std::optional<std::int64_t> served_at;

  // The message as it is shown, which ends with the advice.
  std::string text() const {
    std::string message = what();
    if (*help == '\0') return message;
    return message + (message.find(": ") == std::string::npos ? ": " : "; ") + help;
  }

  // The same error with another message.
  Error reworded(const std::string& message) const {
    Error copy(*this);
    static_cast<std::runtime_error&>(copy) = std::runtime_error(message);
    return copy;
  }
};

}  // namespace tradingdata
