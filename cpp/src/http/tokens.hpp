// A client's current access token and the last ones before it: a service may still repeat those,
// so all of them are searched for in what it sends.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/secrets/secret.hpp"
#include "base/secrets/token_search.hpp"

namespace tradingdata {

// Every method may be called from any thread, and in a forked child.
class Tokens {
 public:
  static constexpr std::size_t most_former = 8;  // the oldest is forgotten, and wiped

  // True where the token is another one than before. Throws Error as Secret does.
  bool set(std::string_view token);
  void clear();
  std::shared_ptr<const Secret> current() const;  // may be none

  // Finds all of them, and the one that a request was sent with, which may be older; null where
  // there is none.
  std::shared_ptr<TokenSearch> search(const std::shared_ptr<const Secret>& sent) const;

 private:
  using Held = std::shared_ptr<const Secret>;

  bool replace(Held fresh);

  Held current_;              // with `former_`, guarded by the process mutex
  std::vector<Held> former_;  // the newest is the last; none is the current one
};

}  // namespace tradingdata
