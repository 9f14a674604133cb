// Finds out why a certificate was not trusted.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace tradingdata::detail {

struct CertificateFault {
  std::string text;
  Hint hint;
};

// `verify_result` is OpenSSL's code (0 where another TLS library, or libcurl itself, refused);
// `detail` is libcurl's text.
CertificateFault certificate_fault(long verify_result, std::string_view detail);

}  // namespace tradingdata::detail
