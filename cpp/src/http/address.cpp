// Refuses what libcurl accepts but a base URL should not have. The text that is kept is made from
// the parts that libcurl read, so that nothing can be understood in two ways.
#include "http/address.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <new>

#include "base/error.hpp"
#include "base/platform.hpp"
#include "base/text.hpp"

namespace tradingdata {

namespace {

// A URL as libcurl reads it.
class ParsedUrl {
 public:
  explicit ParsedUrl(const std::string& text) : url_(curl_url(), &curl_url_cleanup) {
    if (!url_) throw std::bad_alloc();
    problem_ = curl_url_set(url_.get(), CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME);
  }

  CURLUcode problem() const { return problem_; }

  // "" where the URL has no such part.
  std::string part(CURLUPart what) const { return read(what, 0).value_or(""); }
  bool has(CURLUPart what) const { return !part(what).empty(); }
  // With its percent-escapes resolved; nothing where the URL has no such part.
  std::optional<std::string> decoded(CURLUPart what) const { return read(what, CURLU_URLDECODE); }

  // With the zone of an IPv6 address, which libcurl keeps apart.
  std::string host() const {
    std::string host = lower_case(part(CURLUPART_HOST));
    if (const std::string zone = part(CURLUPART_ZONEID); !zone.empty()) {
      host.insert(host.size() - 1, "%25" + zone);
    }
    return host;
  }

  std::string authority() const {
    const std::string port = part(CURLUPART_PORT);
    return host() + (port.empty() ? "" : ":" + port);
  }

 private:
  std::optional<std::string> read(CURLUPart what, unsigned flags) const {
    char* text = nullptr;
    if (problem_ != CURLUE_OK || curl_url_get(url_.get(), what, &text, flags) != CURLUE_OK) {
      return std::nullopt;
    }
    const std::unique_ptr<char, decltype(&curl_free)> owner(text, &curl_free);
    return text;
  }

  std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url_;
  CURLUcode problem_;
};

bool is_plain(char letter) {
  return letter > ' ' && letter < 0x7f;
}

[[noreturn]] void refuse(const std::string& why, const char* help = advice::url_format) {
  throw Error(ErrorKind::configuration, "base_url " + why, help);
}

// libcurl takes the path of "https:///path" for the host.
bool has_no_host(const std::string& text) {
  return text.find(":///") != std::string::npos && text.find(":///") == text.find("://");
}

bool is_loopback(const std::string& host) {
  if (host == "localhost" || host == "[::1]" || host == "[0:0:0:0:0:0:0:1]") return true;
  return host.starts_with("127.") && detail::is_ipv4(host);
}

std::string first_of(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const std::optional<std::string> value = environment(name);
    if (value && !value->empty()) return *value;
  }
  return "";
}

// `origin` is where the address is from.
ProxyChoice parse_proxy(const std::string& text, const std::string& origin) {
  if (text.empty()) return {};
  const auto refuse_proxy = [&](const char* why) {
    throw Error(ErrorKind::configuration, origin + why, advice::proxy);
  };
  if (!std::all_of(text.begin(), text.end(), is_plain)) {
    refuse_proxy(" contains a space, a control or a non-ASCII character");
  }
  const bool has_scheme = text.find("://") != std::string::npos;  // host:port is an http proxy
  const ParsedUrl url((has_scheme ? "" : "http://") + text);
  const auto known = {"http", "https", "socks4", "socks4a", "socks5", "socks5h"};
  const std::string scheme = lower_case(has_scheme ? text.substr(0, text.find("://")) : "http");
  if (std::find(known.begin(), known.end(), scheme) == known.end()) {
    refuse_proxy(" must be an http, https, socks4(a) or socks5(h) address");
  }
  if (!url.has(CURLUPART_HOST) || url.part(CURLUPART_PORT) == "0" || has_no_host(text)) {
    refuse_proxy(
        " has no host that is a name or an IP address, or a port that is not a number from 1 to "
        "65535 "
        "(not shown)");
  }
  ProxyChoice choice;
  choice.proxy = scheme + "://" + url.authority();
  choice.user = url.decoded(CURLUPART_USER);
  choice.password = url.decoded(CURLUPART_PASSWORD);
  const bool unreadable = url.has(CURLUPART_PASSWORD) && !choice.password;
  if (text.find('@') != std::string::npos && (!choice.user || unreadable)) {
    refuse_proxy(" has a '/', '?' or '#' that a password must have as %2F, %3F or %23 (not shown)");
  }
  return choice;
}

}  // namespace

BaseUrl::BaseUrl(const std::string& text) {
  if (text.empty()) refuse("is empty");
  if (!std::all_of(text.begin(), text.end(), is_plain) || text.find('\\') != std::string::npos) {
    refuse("contains a space, a backslash, a control or a non-ASCII character");
  }
  const ParsedUrl url(text);
  if (text.find_first_of("\"<>^`{|}") != std::string::npos) {
    refuse("has a character that must be percent-encoded");
  }
  const std::string scheme = lower_case(text.substr(0, text.find("://")));
  if (scheme != "https" && scheme != "http") refuse("must start with https://");
  if (url.problem() == CURLUE_BAD_PORT_NUMBER || url.part(CURLUPART_PORT) == "0") {
    refuse("has a port that is not a number from 1 to 65535");
  }
  // Wherever libcurl sees it: a password may have had a slash or another mark.
  if (text.find('@') != std::string::npos) {
    refuse("must not contain a user name or password (not shown)", advice::access_token);
  }
  if (url.has(CURLUPART_QUERY)) refuse("must not contain a query ('?...')");
  if (url.has(CURLUPART_FRAGMENT)) refuse("must not contain a fragment ('#...')");
  host_ = url.host();
  if (url.problem() == CURLUE_NO_HOST || has_no_host(text)) refuse("has no host");
  if (host_.empty()) refuse("has a host that is not a name or an IP address");
  // As written: another spelling of an address, such as 127.1, may mean another host elsewhere.
  loopback_ = is_loopback(host_) && lower_case(text).starts_with(scheme + "://" + host_);
  if (scheme != "https" && !loopback_) {
    refuse(
        "must start with https://, because over http others can read the access token (http is "
        "allowed for 127.0.0.0/8, ::1 and localhost)");
  }
  port_ = url.has(CURLUPART_PORT) ? url.part(CURLUPART_PORT) : scheme == "https" ? "443" : "80";
  std::string path = url.part(CURLUPART_PATH);
  while (path.ends_with('/')) path.pop_back();
  text_ = scheme + "://" + url.authority() + path;
}

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

ProxyChoice choose_proxy(const BaseUrl& base, const std::optional<std::string>& proxy,
                         bool trust_env, const Environment& environment) {
  ProxyChoice choice;
  if (proxy) choice = parse_proxy(*proxy, "proxy");
  if (base.loopback()) return {};
  if (proxy || !trust_env) return choice;
  choice =
      parse_proxy(first_of(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}),
                  "the environment's https_proxy (or all_proxy)");
  if (!choice.proxy.empty()) choice.no_proxy = first_of(environment, {"no_proxy", "NO_PROXY"});
  return choice;
}

std::string percent_encoded(std::string_view text) {
  if (text.empty()) return "";  // for libcurl, a size of 0 means a terminated text
  const std::unique_ptr<char, decltype(&curl_free)> encoded(
      curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size())), &curl_free);
  if (!encoded) throw std::bad_alloc();
  return encoded.get();
}

std::string origin_of(const std::string& url) {
  if (!std::all_of(url.begin(), url.end(), is_plain)) return "";
  const ParsedUrl parsed(url);
  return parsed.has(CURLUPART_HOST) ? parsed.part(CURLUPART_SCHEME) + "://" + parsed.authority()
                                    : "";
}

}  // namespace tradingdata
