// The operating system's clocks and randomness, and conversions between durations and seconds.
#include "base/platform/clock.hpp"

#include <algorithm>
#include <random>

namespace tradingdata {

namespace {

std::int64_t wall_micros_now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Called once per retry, so the system's own source is fast enough, and unlike a seeded generator
// it does not give forked children the same jitter.
double system_random() {
  std::random_device device;
  return std::uniform_real_distribution<double>(0.0, 1.0)(device);
}

}  // namespace

Sources system_sources() {
  return {std::chrono::steady_clock::now, wall_micros_now, system_random};
}

double to_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

Duration from_seconds(double seconds) {
  constexpr double ten_years = 3600.0 * 24 * 3653;
  const double clamped = seconds > 0 ? std::min(seconds, ten_years) : 0.0;  // NaN gives 0
  return std::chrono::round<Duration>(std::chrono::duration<double>(clamped));
}

}  // namespace tradingdata
