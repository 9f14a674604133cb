// Facts about a request for messages and redaction, and the dates of headers.
#include "http/http.hpp"

#include <curl/curl.h>

#include <algorithm>

#include "base/text/ascii.hpp"

namespace tradingdata {

bool Request::has_header(std::string_view name) const {
  const auto matches = [&](const std::string& line) {
    return same_ignoring_case(line.substr(0, line.find(':')), name);
  };
  return std::any_of(headers.begin(), headers.end(), matches);
}

std::shared_ptr<TokenSearch> Request::secrets() const {
  if (known != nullptr) return known->search(token);
  if (token == nullptr) return nullptr;
  return std::make_shared<TokenSearch>(std::vector{token});
}

std::string Request::target() const {
  const std::size_t mark = url.find("://");
  const std::size_t slash = url.find('/', mark == std::string::npos ? 0 : mark + 3);
  const std::string path =
      slash == std::string::npos ? "/" : url.substr(slash, url.find('?', slash) - slash);
  return (method == Method::post ? "POST " : "GET ") + path;
}

std::optional<std::int64_t> parse_http_date(const std::string& text) {
  const time_t seconds = curl_getdate(text.c_str(), nullptr);
  if (seconds < 0) return std::nullopt;
  return seconds;
}

}  // namespace tradingdata
