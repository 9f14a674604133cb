// The service's address, checked once so that no request can go where it should not, and the proxy,
// if any, through which it is reached. URLs are read and written by libcurl, which also uses them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tradingdata {

class BaseUrl {
 public:
  // https with a host, an optional port and an optional path; http on loopback only. Throws Error
  // (configuration) for all else: user names, queries, fragments, spaces, other schemes.
  explicit BaseUrl(const std::string& text);

  const std::string& text() const { return text_; }  // without a slash at its end
  const std::string& host() const { return host_; }  // lower case; IPv6 in brackets
  const std::string& port() const { return port_; }  // that of the scheme if none is named
  bool loopback() const { return loopback_; }

 private:
  std::string text_;
  std::string host_;
  std::string port_;
  bool loopback_ = false;
};

// A proxy's address and, apart from it, what it logs on with: errors show the address.
struct ProxyChoice {
  std::string proxy;  // "scheme://host:port", or without a port; "" is none
  std::optional<std::string> user;
  std::optional<std::string> password;
  std::string no_proxy;  // hosts that bypass it, as the environment lists them
};

using Environment = std::function<std::optional<std::string>(const char* name)>;

Environment process_environment();

// Loopback goes directly, always. Else `proxy` where given ("" is none), else with `trust_env` the
// environment's https_proxy or all_proxy (either case, lower first) and no_proxy. Throws Error
// (configuration), without the value, for a proxy that libcurl could not read as a URL.
ProxyChoice choose_proxy(const BaseUrl& base, const std::optional<std::string>& proxy,
                         bool trust_env, const Environment& environment);

// RFC 3986: unreserved characters as they are, every other byte as %XX.
std::string percent_encoded(std::string_view text);

// "scheme://host:port" of an absolute URL, without user name or path; "" if it is not absolute.
std::string origin_of(const std::string& url);

}  // namespace tradingdata
