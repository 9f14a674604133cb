// Searches for tokens that are given as text.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "privacy/tokens.hpp"

namespace tradingdata::tokens {

inline std::shared_ptr<TokenSearch> search_for(const std::vector<std::string_view>& tokens) {
  std::vector<std::shared_ptr<const Secret>> held;
  for (const std::string_view token : tokens) held.push_back(std::make_shared<Secret>(token));
  return std::make_shared<TokenSearch>(std::move(held));
}

}  // namespace tradingdata::tokens
