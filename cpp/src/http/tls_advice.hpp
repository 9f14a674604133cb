// Explains why a certificate was not trusted and what to do about it.
#pragma once

#include <string>
#include <string_view>

namespace tradingdata::detail {

// `verify_result` is OpenSSL's code (0 where another TLS library, or libcurl itself, refused);
// `detail` is libcurl's text.
std::string certificate_advice(long verify_result, std::string_view detail);

}  // namespace tradingdata::detail
