// The one exception type of the core. The kind selects the class that Python raises, the message
// says what happened, and the hint names what the user can do, which each front end words itself.
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
  pagination,      // the pages of a search may be incomplete
};

// A key of tradingdata.errors.ADVICE.
struct Hint {
  const char* code = nullptr;
};

namespace hint {
inline constexpr Hint none{};
inline constexpr Hint access_token{"access_token"};
inline constexpr Hint base_url{"base_url"};
inline constexpr Hint ca_file{"ca_file"};
inline constexpr Hint clock{"clock"};
inline constexpr Hint fewer_requests{"fewer_requests"};
inline constexpr Hint max_body{"max_body"};
inline constexpr Hint network{"network"};
inline constexpr Hint new_token{"new_token"};
inline constexpr Hint permissions{"permissions"};
inline constexpr Hint proxy{"proxy"};
inline constexpr Hint query{"query"};
inline constexpr Hint timeout{"timeout"};
inline constexpr Hint try_later{"try_later"};
inline constexpr Hint url_format{"url_format"};
}  // namespace hint

class Error : public std::runtime_error {
 public:
  Error(ErrorKind what_kind, const std::string& message, Hint advice = hint::none)
      : std::runtime_error(message), kind(what_kind), hint(advice) {}

  ErrorKind kind;
  Hint hint;
  bool retryable = false;
  bool incomplete = false;             // the body ended inside the document
  int status_code = 0;                 // 0: there was no response
  int attempts = 0;                    // 0: nothing was sent
  double elapsed = 0;                  // seconds over all attempts
  std::optional<double> retry_after;   // seconds
  std::optional<std::int64_t> offset;  // bytes into the body
  std::optional<std::int64_t> page;    // of a search: the one that failed
  std::string path;                    // JSON path, e.g. $.data[3].quantity
  std::string service_message;         // the envelope's message, where there was one
  std::string body;                    // the head of the response, redacted and capped

  // The same error with another message.
  Error reworded(const std::string& message) const {
    Error copy(*this);
    static_cast<std::runtime_error&>(copy) = std::runtime_error(message);
    return copy;
  }
};

}  // namespace tradingdata
