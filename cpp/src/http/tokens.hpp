// A client's access token of the moment, and the last ones before it: a service may still repeat
// those, so they are scrubbed too.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/secret.hpp"

namespace tradingdata {

// Every method may be called from any thread, and in a forked child.
class Tokens {
 public:
  static constexpr std::size_t most_former = 8;  // the oldest is forgotten, and wiped

  // True where the token is another one than before. Throws Error as Secret does.
  bool set(std::string_view token);
  void clear();
  std::shared_ptr<const Secret> current() const;  // may be none

  // As Secret::scrub, for all of them.
  void scrub(std::string& text, bool cut = false) const;

 private:
  using Held = std::shared_ptr<const Secret>;

  void retire_current();

  Held current_;              // with `former_`, guarded by the process mutex
  std::vector<Held> former_;  // the newest is the last; none is the current one
};

}  // namespace tradingdata
