// Facts about a request for messages and redaction.
#include "http/http.hpp"

#include <algorithm>

#include "base/ascii.hpp"

namespace tradingdata {

bool Request::has_header(std::string_view name) const {
  const auto matches = [&](const std::string& line) {
    return same_ignoring_case(line.substr(0, line.find(':')), name);
  };
  return std::any_of(headers.begin(), headers.end(), matches);
}

std::shared_ptr<const TokenSearch> Request::secrets() const {
  if (known != nullptr) return known->search(token);
  if (token == nullptr) return nullptr;
  return std::make_shared<const TokenSearch>(std::vector{token->reveal()});
}

std::string Request::target() const {
  const std::size_t mark = url.find("://");
  const std::size_t slash = url.find('/', mark == std::string::npos ? 0 : mark + 3);
  const std::string path =
      slash == std::string::npos ? "/" : url.substr(slash, url.find('?', slash) - slash);
  return (method == Method::post ? "POST " : "GET ") + path;
}

}  // namespace tradingdata
