// The worker's side of a contest, for programs in C++: facts first, then a line for each round.
#pragma once

#include <time.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace bench {

inline double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Times {
  std::vector<double> cpu;
  std::vector<double> wall;

  // Runs `work`, which makes `calls` operations, and notes the times of one of them.
  template <typename Work>
  void add(const Work& work, int calls = 1) {
    const double wall_before = seconds(CLOCK_MONOTONIC);
    const double cpu_before = seconds(CLOCK_PROCESS_CPUTIME_ID);
    work();
    const double cpu_after = seconds(CLOCK_PROCESS_CPUTIME_ID);
    const double wall_after = seconds(CLOCK_MONOTONIC);
    cpu.push_back((cpu_after - cpu_before) / calls);
    wall.push_back((wall_after - wall_before) / calls);
  }
};

inline std::string list_of(const std::vector<double>& values) {
  std::string text = "[";
  for (const double value : values) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%s%.9f", text.size() > 1 ? "," : "", value);
    text += digits;
  }
  return text + "]";
}

// Serves rounds until the other side closes; `round` runs the case once and adds its times.
template <typename Round>
void serve_rounds(const std::string& fact, const Round& round) {
  Times warm;
  const double started = seconds(CLOCK_MONOTONIC);
  while (warm.wall.size() < 3 || seconds(CLOCK_MONOTONIC) < started + 0.3) round(warm);
  const double each = (seconds(CLOCK_MONOTONIC) - started) / static_cast<double>(warm.wall.size());
  std::cout << "[{\"fact\":" << fact << ",\"seconds\":" << each << "}]" << std::endl;
  int index = 0;
  int count = 0;
  while (std::cin >> index >> count) {
    Times times;
    for (int i = 0; i < count; ++i) round(times);
    std::cout << "{\"cpu\":" << list_of(times.cpu) << ",\"wall\":" << list_of(times.wall) << "}"
              << std::endl;
  }
}

}  // namespace bench
