// Cases written in one text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

// What stands between the bars of `text`.
inline std::vector<std::string> cases(std::string_view text) {
  std::vector<std::string> found(1);
  for (const char c : text) {
    if (c == '|') {
      found.emplace_back();
    } else {
      found.back() += c;
    }
  }
  return found;
}
