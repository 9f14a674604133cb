#include "http/tokens.hpp"

#include <mutex>
#include <utility>

#include "base/process.hpp"

namespace tradingdata {

void Tokens::retire_current() {
  if (current_ == nullptr) return;
  if (former_.size() == most_former) former_.erase(former_.begin());
  former_.push_back(std::exchange(current_, nullptr));
}

bool Tokens::set(std::string_view token) {
  auto fresh = std::make_shared<const Secret>(token);
  const std::scoped_lock lock(detail::process_mutex());
  if (current_ != nullptr && current_->reveal() == token) return false;
  retire_current();
  std::erase_if(former_, [token](const Held& held) { return held->reveal() == token; });
  current_ = std::move(fresh);
  return true;
}

void Tokens::clear() {
  const std::scoped_lock lock(detail::process_mutex());
  retire_current();
}

std::shared_ptr<const Secret> Tokens::current() const {
  const std::scoped_lock lock(detail::process_mutex());
  return current_;
}

void Tokens::scrub(std::string& text, bool cut) const {
  std::vector<Held> known;
  {
    const std::scoped_lock lock(detail::process_mutex());
    known = former_;
    if (current_ != nullptr) known.push_back(current_);
  }
  for (const Held& secret : known) secret->scrub(text, cut);
}

}  // namespace tradingdata
