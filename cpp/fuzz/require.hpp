// How a fuzzer reports what must not be.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tradingdata::oracle {

// Prints what is wrong and aborts, which libFuzzer reports as a finding.
inline void require(bool right, std::string_view what) {
  if (right) return;
  std::fprintf(stderr, "DISAGREEMENT: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace tradingdata::oracle
