// Chooses the proxy by the variables that curl uses for https. Loopback never goes through a
// proxy, so that the sandbox works everywhere.
#include "http/proxy.hpp"

#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "base/error.hpp"

namespace tradingdata {

namespace {

std::string first_of(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const std::optional<std::string> value = environment(name);
    if (value && !value->empty()) return *value;
  }
  return "";
}

void check(std::string_view proxy, std::string_view origin) {
  const auto refuse = [&](std::string_view why) {
    throw Error(ErrorKind::configuration, std::string(origin) + " " + std::string(why),
                hint::proxy);
  };
  for (const char letter : proxy) {
    if (letter <= ' ' || letter >= 0x7f)
      refuse("contains a space, a control or a non-ASCII character");
  }
  const std::size_t mark = proxy.find("://");
  if (mark == std::string_view::npos) return;  // host:port is an http proxy
  const std::string_view scheme = proxy.substr(0, mark);
  for (const std::string_view known : {"http", "https", "socks4", "socks4a", "socks5", "socks5h"}) {
    if (scheme == known) return;
  }
  refuse("must be an http, https, socks4(a) or socks5(h) address");
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

ProxyChoice choose_proxy(const BaseUrl& base, const std::optional<std::string>& proxy,
                         bool trust_env, const Environment& environment) {
  if (proxy) check(*proxy, "proxy");
  if (base.loopback()) return {};
  if (proxy) return {*proxy, ""};
  if (!trust_env) return {};
  ProxyChoice choice;
  choice.proxy = first_of(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
  check(choice.proxy, "the environment's https_proxy (or all_proxy)");
  if (!choice.proxy.empty()) choice.no_proxy = first_of(environment, {"no_proxy", "NO_PROXY"});
  return choice;
}

}  // namespace tradingdata
