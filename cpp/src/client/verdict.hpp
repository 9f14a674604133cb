// What an attempt that brought no result means: its error, whether the call is tried again, and
// whether a later call may succeed. The only place that decides this. All calls of this service
// only read, so every one of them may be repeated.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "http/http.hpp"

namespace tradingdata {

struct Verdict {
  Error error;  // with `retryable` and `passing`
  Retry retry;
  bool timeout = false;  // costs more of the quota
};

// Of a response whose status, or missing body, says that there is no result; of a failed transfer;
// and of the error with which the decoder refused a body. `wall_micros` is since the epoch, UTC.
Verdict verdict(const Request& request, const Response& response, std::int64_t wall_micros);
Verdict verdict(const Request& request, const Failure& failure);
Verdict verdict(Error refusal);

// A response with status 200 that has a body, which is for the decoder to judge.
bool has_content(const Response& response);

}  // namespace tradingdata
