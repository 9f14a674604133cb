// One call to the service: its request, its deadline and its outcome.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/platform/clock.hpp"
#include "http/http.hpp"

namespace tradingdata {

// Makes a call's result of its response (HTTP 200, not empty), on the pumping thread, without any
// lock held. What it throws ends the call; a body that ends too early is requested again where only
// the connection's end showed its length.
using Judged = std::shared_ptr<const void>;
using Secrets = std::shared_ptr<TokenSearch>;  // no result may have them; may be null
using Judge = std::function<Judged(Response&, const Secrets&)>;

struct Outcome {
  CallId id = 0;
  std::shared_ptr<const void> result;  // the judge's
  std::exception_ptr error;            // an Error, or whatever else ended the call
  int status_code = 0;
  int attempts = 0;
  double elapsed = 0;            // seconds
  std::int64_t received_at = 0;  // microseconds since the epoch, UTC
};

struct RetryRecord {
  CallId call = 0;
  int attempt = 0;  // the one that failed, from 1
  std::string reason;
  double delay = 0;  // seconds until the next
};

// Lists, since they are spliced from owner to owner: passing on an outcome needs no memory, which
// may be what ran out.
using Outcomes = std::list<Outcome>;
using RetryRecords = std::list<RetryRecord>;

CallId next_call_id();

struct Call {
  CallId id = next_call_id();
  Request request;
  TimePoint started;   // when the caller made it
  TimePoint deadline;  // over all attempts and the time between them
  Judge judge;
  // The latest start that the rate limit may assign to the first attempt, if before the deadline.
  TimePoint start_by = TimePoint::max();
  Outcomes outcome = Outcomes(1);  // allocated with the call, so that a call can always end
};

}  // namespace tradingdata
