// The service's address, checked once so that no request can go where it should not.
#pragma once

#include <string>
#include <string_view>

namespace tradingdata {

class BaseUrl {
 public:
  // https with a host, an optional port and an optional path; http on loopback only. Throws Error
  // (configuration) for all else: user names, queries, fragments, spaces, other schemes.
  explicit BaseUrl(std::string_view text);

  const std::string& text() const { return text_; }  // without a slash at its end
  const std::string& host() const { return host_; }  // lower case; IPv6 in brackets
  bool secure() const { return secure_; }
  bool loopback() const { return loopback_; }

 private:
  std::string text_;
  std::string host_;
  bool secure_ = true;
  bool loopback_ = false;
};

// RFC 3986: unreserved characters as they are, every other byte as %XX.
std::string percent_encoded(std::string_view text);

// "scheme://host:port" of an absolute URL, without user name or path; "" if it is not absolute.
std::string origin_of(std::string_view url);

}  // namespace tradingdata
