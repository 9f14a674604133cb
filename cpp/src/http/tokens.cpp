// A token is searched for from before it is first sent until several newer ones have replaced it.
#include "http/tokens.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/platform/process.hpp"

namespace tradingdata {

// What a lock guards here are a few pointers: a token is read, copied and wiped outside.
bool Tokens::set(std::string_view token) {
  return replace(std::make_shared<const Secret>(token));
}

void Tokens::clear() {
  replace(nullptr);
}

bool Tokens::replace(Held fresh) {
  Held forgotten;
  const std::scoped_lock lock(detail::process_mutex());
  const auto same = [&fresh](const Held& held) {
    return held != nullptr && fresh != nullptr && held->reveal() == fresh->reveal();
  };
  if (same(current_)) return false;
  std::vector<Held> former = former_;
  std::erase_if(former, same);
  if (current_ != nullptr) former.push_back(current_);
  if (former.size() > most_former) {
    forgotten = std::move(former.front());
    former.erase(former.begin());
  }
  former_ = std::move(former);
  current_ = std::move(fresh);
  return true;
}

std::shared_ptr<const Secret> Tokens::current() const {
  const std::scoped_lock lock(detail::process_mutex());
  return current_;
}

std::shared_ptr<TokenSearch> Tokens::search(const Held& sent) const {
  std::vector<Held> tokens;
  tokens.reserve(most_former + 2);
  {
    const std::scoped_lock lock(detail::process_mutex());
    tokens = former_;
    if (current_ != nullptr) tokens.push_back(current_);
  }
  const bool known = std::find(tokens.begin(), tokens.end(), sent) != tokens.end();
  if (sent != nullptr && !known) tokens.push_back(sent);
  if (tokens.empty()) return nullptr;
  return std::make_shared<TokenSearch>(std::move(tokens));
}

}  // namespace tradingdata
