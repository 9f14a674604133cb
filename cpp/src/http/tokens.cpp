// A token is searched for from before it is first sent until several newer ones have replaced it.
#include "http/tokens.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/process.hpp"

namespace tradingdata {

namespace {

using Held = std::shared_ptr<const Secret>;

std::shared_ptr<const TokenSearch> searching_for(const std::vector<Held>& several,
                                                 const Held& another) {
  std::vector<std::string_view> tokens;
  for (const Held& held : several) tokens.push_back(held->reveal());
  if (another != nullptr) tokens.push_back(another->reveal());
  return std::make_shared<const TokenSearch>(tokens);
}

void forget_oldest(std::vector<Held>& former) {
  if (former.size() > Tokens::most_former) former.erase(former.begin());
}

}  // namespace

bool Tokens::set(std::string_view token) {
  auto fresh = std::make_shared<const Secret>(token);
  const std::scoped_lock lock(detail::process_mutex());
  if (current_ != nullptr && current_->reveal() == token) return false;
  std::vector<Held> former = all();
  std::erase_if(former, [token](const Held& held) { return held->reveal() == token; });
  forget_oldest(former);
  // All that may throw comes first: a token that is not searched for must never be sent.
  search_ = searching_for(former, fresh);
  former_ = std::move(former);
  current_ = std::move(fresh);
  return true;
}

void Tokens::clear() {
  const std::scoped_lock lock(detail::process_mutex());
  former_ = all();
  forget_oldest(former_);
  current_ = nullptr;
}

std::vector<std::shared_ptr<const Secret>> Tokens::all() const {
  std::vector<Held> tokens = former_;
  if (current_ != nullptr) tokens.push_back(current_);
  return tokens;
}

std::shared_ptr<const Secret> Tokens::current() const {
  const std::scoped_lock lock(detail::process_mutex());
  return current_;
}

std::shared_ptr<const TokenSearch> Tokens::search(const Held& sent) const {
  const std::scoped_lock lock(detail::process_mutex());
  const bool known = sent == nullptr || sent == current_ ||
                     std::find(former_.begin(), former_.end(), sent) != former_.end();
  if (known) return search_;
  return searching_for(all(), sent);
}

}  // namespace tradingdata
