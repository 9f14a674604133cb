// Reads the causes of OpenSSL's result codes, or of the text where another TLS library is in use.
#include "http/certificate_fault.hpp"

#include <initializer_list>

namespace tradingdata::detail {

namespace {

bool mentions(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

CertificateFault certificate_fault(long verify_result, std::string_view detail) {
  // OpenSSL's X509_V_ERR numbers, which are part of its ABI; other libraries only give text.
  constexpr long not_yet_valid = 9;
  constexpr long has_expired = 10;
  constexpr long self_signed = 18;
  constexpr long self_signed_in_chain = 19;
  constexpr long no_issuer = 20;
  constexpr long no_first_signature = 21;
  constexpr long wrong_host = 62;
  if (verify_result == not_yet_valid || mentions(detail, {"not yet valid"})) {
    return {"the server's certificate is not yet valid", hint::clock};
  }
  if (verify_result == has_expired || mentions(detail, {"expired"})) {
    return {"the server's certificate has expired", hint::clock};
  }
  if (verify_result == wrong_host ||
      mentions(detail, {"subject name", "match", "not valid for", "hostname"})) {
    return {"the server's certificate is for another host", hint::base_url};
  }
  const bool unknown = verify_result == self_signed || verify_result == self_signed_in_chain ||
                       verify_result == no_issuer || verify_result == no_first_signature;
  if (unknown || mentions(detail, {"self", "issuer", "unknown", "unable to get"})) {
    return {"the server's certificate is signed by an authority that is not trusted here",
            hint::ca_file};
  }
  return {"the server's certificate was refused", hint::none};
}

}  // namespace tradingdata::detail
