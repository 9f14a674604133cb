// Counts of what a client has done so far. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace tradingdata {

struct Stats {
  using Count = std::atomic<std::int64_t>;

  Count calls = 0;        // that ended, well or not
  Count failures = 0;     // calls that ended with an error
  Count attempts = 0;     // requests sent
  Count retries = 0;      // attempts after the first of a call
  Count connections = 0;  // responses over a new connection
  Count reused = 0;       // responses over a kept one
  Count bytes_sent = 0;   // on the wire, headers included
  Count bytes_received = 0;
};

}  // namespace tradingdata
