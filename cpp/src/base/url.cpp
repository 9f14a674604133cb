// Checks a base URL by a grammar stricter than that of RFC 3986: what this code and libcurl could
// read differently is rejected.
#include "base/url.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "base/ascii.hpp"
#include "base/error.hpp"

namespace tradingdata {

namespace {

[[noreturn]] void refuse(const std::string& why, Hint advice = hint::url_format) {
  throw Error(ErrorKind::configuration, "base_url " + why, advice);
}

constexpr bool is_unreserved(char letter) {
  return is_alphanumeric(letter) || std::string_view("-._~").find(letter) != std::string_view::npos;
}

// Four decimal parts, the first of them 127: nothing that a resolver could interpret differently.
bool is_loopback_ipv4(std::string_view host) {
  if (!host.starts_with("127.")) return false;
  int parts = 0;
  while (true) {
    const std::size_t dot = host.find('.');
    const std::string_view part = host.substr(0, dot);
    const bool plain = !part.empty() && part.size() <= 3 &&
                       std::all_of(part.begin(), part.end(), is_digit) &&
                       (part.size() == 1 || part.front() != '0');
    int value = 0;
    std::from_chars(part.data(), part.data() + part.size(), value);
    if (!plain || value > 255) return false;
    ++parts;
    if (dot == std::string_view::npos) return parts == 4;
    host.remove_prefix(dot + 1);
  }
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host == "[0:0:0:0:0:0:0:1]" ||
         is_loopback_ipv4(host);
}

void check_characters(std::string_view text) {
  for (const char letter : text) {
    if (letter <= ' ' || letter >= 0x7f || letter == '\\') {
      refuse("contains a space, a backslash, a control or a non-ASCII character");
    }
  }
}

void check_host(std::string_view host) {
  if (host.empty()) refuse("has no host");
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string_view inner = bracketed ? host.substr(1, host.size() - 2) : host;
  const bool valid = std::all_of(inner.begin(), inner.end(), [&](char letter) {
    if (bracketed) return hex_digit(letter) >= 0 || letter == ':' || letter == '.';
    return is_alphanumeric(letter) || letter == '-' || letter == '.' || letter == '_';
  });
  if (!valid) refuse("has a host that is not a name or an IP address");
}

void check_port(std::string_view port) {
  int value = 0;
  const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), value);
  if (problem != std::errc() || end != port.data() + port.size() || !is_digit(port.front()) ||
      value < 1 || value > 65535) {
    refuse("has a port that is not a number from 1 to 65535");
  }
}

void check_path(std::string_view path) {
  constexpr std::string_view others = "/%:@!$&'()*+,;=";
  for (const char letter : path) {
    if (!is_unreserved(letter) && others.find(letter) == std::string_view::npos) {
      refuse("has a path with a character that must be percent-encoded");
    }
  }
}

}  // namespace

BaseUrl::BaseUrl(std::string_view text) {
  if (text.empty()) refuse("is empty");
  check_characters(text);
  const std::size_t mark = text.find("://");
  const std::string scheme = lower_case(text.substr(0, mark == std::string_view::npos ? 0 : mark));
  if (scheme != "https" && scheme != "http") refuse("must start with https://");
  const std::string_view rest = text.substr(mark + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  std::string_view path = rest.substr(authority.size());

  if (authority.find('@') != std::string_view::npos) {
    refuse("must not contain a user name or password (not shown)", hint::access_token);
  }
  if (path.find('?') != std::string_view::npos) refuse("must not contain a query ('?...')");
  if (path.find('#') != std::string_view::npos) refuse("must not contain a fragment ('#...')");
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  host_ = lower_case(authority.substr(0, colon));
  check_host(host_);
  if (colon != std::string_view::npos) check_port(authority.substr(colon + 1));
  check_path(path);

  secure_ = scheme == "https";
  loopback_ = is_loopback(host_);
  if (!secure_ && !loopback_) {
    refuse(
        "must start with https://, because over http others can read the access token (http is "
        "allowed for 127.0.0.0/8, ::1 and localhost)");
  }
  while (path.ends_with('/')) path.remove_suffix(1);
  text_ = scheme + "://" + lower_case(authority) + std::string(path);
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char letter : text) {
    if (is_unreserved(letter)) {
      encoded += letter;
      continue;
    }
    const auto byte = static_cast<unsigned char>(letter);
    encoded += '%';
    encoded += digits[byte >> 4U];
    encoded += digits[byte & 15U];
  }
  return encoded;
}

std::string origin_of(std::string_view url) {
  const std::size_t mark = url.find("://");
  if (mark == std::string_view::npos || mark == 0) return "";
  const std::string_view rest = url.substr(mark + 3);
  std::string_view authority = rest.substr(0, rest.find_first_of("/?#\\"));
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    authority.remove_prefix(at + 1);
  }
  const std::string origin = std::string(url.substr(0, mark)) + "://" + std::string(authority);
  const bool plain = std::all_of(origin.begin(), origin.end(),
                                 [](char letter) { return letter > ' ' && letter < 0x7f; });
  return plain && origin.size() <= 300 ? origin : "";
}

}  // namespace tradingdata
