// What can go wrong, as one exception type: the kind says which class Python raises.
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

class Error : public std::runtime_error {
 public:
  Error(ErrorKind what_kind, const std::string& message)
      : std::runtime_error(message), kind(what_kind) {}

  ErrorKind kind;
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
