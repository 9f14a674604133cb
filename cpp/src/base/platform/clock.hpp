// Sources of time and randomness, replaceable in tests: delays are tested to the microsecond.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace tradingdata {

// Deadlines, back-off and pace count on the steady clock only; the wall clock may jump.
using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

struct Sources {
  std::function<TimePoint()> now;
  std::function<std::int64_t()> wall_micros;  // since the epoch, UTC
  std::function<double()> random;             // uniform in [0, 1)
};

// The machine's own; safe on many threads and in a forked child.
Sources system_sources();

double to_seconds(Duration duration);

// Clamped to [0, ten years], so that adding it to a time never overflows.
Duration from_seconds(double seconds);

}  // namespace tradingdata
