// curl_getdate reads all three forms that HTTP allows, so none is parsed here.
#include "http/http_date.hpp"

#include <curl/curl.h>

namespace tradingdata {

std::optional<std::int64_t> parse_http_date(const std::string& text) {
  const time_t seconds = curl_getdate(text.c_str(), nullptr);
  if (seconds < 0) return std::nullopt;
  return seconds;
}

}  // namespace tradingdata
