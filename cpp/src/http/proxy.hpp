// Which proxy, if any, a client goes through.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/url.hpp"

namespace tradingdata {

struct ProxyChoice {
  std::string proxy;     // "" is none
  std::string no_proxy;  // hosts that bypass it, as the environment lists them
};

using Environment = std::function<std::optional<std::string>(const char* name)>;

Environment process_environment();

// Loopback goes directly, always. Else `proxy` where given ("" is none), else with `trust_env` the
// environment's https_proxy or all_proxy (either case, lower first) and no_proxy. Throws Error
// (configuration), without the value, for a proxy that is no URL.
ProxyChoice choose_proxy(const BaseUrl& base, const std::optional<std::string>& proxy,
                         bool trust_env, const Environment& environment);

}  // namespace tradingdata
