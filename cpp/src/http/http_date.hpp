// Dates of HTTP headers, read by libcurl.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tradingdata {

// Seconds since the epoch of an HTTP date in any of its three forms (RFC 9110, section 5.6.7), and
// of what else libcurl recognises as a date; nothing for other text.
std::optional<std::int64_t> parse_http_date(const std::string& text);

}  // namespace tradingdata
