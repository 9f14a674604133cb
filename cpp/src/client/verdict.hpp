// What an attempt that brought no result means: its error, whether the call is tried again, and
// whether a later call may succeed. The only place that decides this. All calls of this service
// only read, so every one of them may be repeated.
#pragma once

#include <cstdint>
#include <variant>

#include "base/error.hpp"
#include "http/http.hpp"

namespace tradingdata {

// What came of a request: a response whose status, or missing body, says that there is no result; a
// failure of the transfer; or the error with which the decoder refused the body of a response.
struct Attempt {
  const Request& request;
  std::variant<const Response*, const Failure*, const Error*> came;
  std::int64_t wall_micros = 0;  // since the epoch, UTC
};

struct Verdict {
  Error error;  // with `retryable` and `passing`
  Retry retry;
  bool timeout = false;  // costs more of the quota
};

Verdict verdict(const Attempt& attempt);

// A response with status 200 that has a body, which is for the decoder to judge.
bool has_content(const Response& response);

}  // namespace tradingdata
