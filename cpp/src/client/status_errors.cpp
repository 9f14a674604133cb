// Errors for HTTP statuses other than 200, and for empty bodies. Their texts come from the service,
// so they are redacted and shortened here.
#include "client/status_errors.hpp"

#include <string_view>

#include "base/text/ascii.hpp"
#include "client/retry.hpp"
#include "decode/decode.hpp"
#include "decode/personal/redact.hpp"
#include "http/address.hpp"

namespace tradingdata::detail {

namespace {

constexpr std::int64_t shown_body = 2048;
constexpr std::int64_t shown_message = 300;

ErrorKind kind_of(int status) {
  switch (status) {
    case 400:
    case 405:
    case 422: return ErrorKind::bad_request;
    case 401:
    case 403: return ErrorKind::authentication;
    case 404: return ErrorKind::not_found;
    case 429: return ErrorKind::rate_limit;
    default: return status >= 500 && status < 600 ? ErrorKind::server : ErrorKind::status;
  }
}

std::string_view phrase_of(int status) {
  switch (status) {
    case 301: return " Moved Permanently";
    case 302: return " Found";
    case 303: return " See Other";
    case 307: return " Temporary Redirect";
    case 308: return " Permanent Redirect";
    case 400: return " Bad Request";
    case 401: return " Unauthorized";
    case 403: return " Forbidden";
    case 404: return " Not Found";
    case 405: return " Method Not Allowed";
    case 408: return " Request Timeout";
    case 422: return " Unprocessable Content";
    case 425: return " Too Early";
    case 429: return " Too Many Requests";
    case 500: return " Internal Server Error";
    case 502: return " Bad Gateway";
    case 503: return " Service Unavailable";
    case 504: return " Gateway Timeout";
    default: return "";
  }
}

bool is_redirect(int status) {
  return status >= 300 && status < 400 && status != 304;
}

const char* advice_of(int status) {
  if (is_redirect(status) || status == 404) return advice::base_url;
  if (status == 401) return advice::new_token;
  if (status == 403) return advice::permissions;
  if (status == 429) return advice::fewer_requests;
  return is_passing(status) || status >= 500 ? advice::try_later : advice::none;
}

// What the status means, where its phrase does not say it.
std::string meaning_of(const Response& response, TokenSearch* secrets) {
  const int status = response.status;
  if (is_redirect(status)) {
    const std::string where = redacted_line(response.location ? origin_of(*response.location) : "",
                                            shown_message, secrets);
    return "; redirects are not followed, so that the token is not sent elsewhere" +
           (where.empty() ? "" : " (the target is " + where + ")");
  }
  switch (status) {
    case 401: return "; the access token is missing, wrong or expired";
    case 403: return "; the access token does not permit this call";
    case 404: return "; the service is not at this address";
    default: break;
  }
  const bool known = kind_of(status) != ErrorKind::status || is_passing(status);
  return known ? "" : "; the service does not document this status";
}

}  // namespace

Verdict verdict_of_status(const Request& request, const Response& response,
                          std::int64_t wall_micros) {
  const int status = response.status;
  const std::shared_ptr<TokenSearch> secrets = request.secrets();
  const std::string said =
      redacted_line(service_message(response.body.view()), shown_message, secrets.get());
  const std::string phrase(phrase_of(status));
  // Many services repeat the phrase as their message.
  const bool repeats = same_ignoring_case(trimmed(phrase), trimmed(said));
  Error error(kind_of(status),
              "HTTP " + std::to_string(status) + phrase +
                  (said.empty() || repeats ? "" : ": " + said) +
                  meaning_of(response, secrets.get()),
              advice_of(status));
  error.status_code = status;
  error.retryable = is_passing(status);
  error.service_message = said;
  error.body = redacted_head(response.body.view(), shown_body, secrets.get());
  if (response.retry_after) {
    error.retry_after = retry_after_seconds(*response.retry_after, response.date, wall_micros);
  }
  return {error, error.retryable ? Retry::always : Retry::never};
}

Error empty_body(int status) {
  Error error(ErrorKind::decode, "empty body: HTTP " + std::to_string(status) +
                                     " without content, which is not a book without rows");
  error.status_code = status;
  error.retryable = true;
  error.offset = 0;
  return error;
}

}  // namespace tradingdata::detail
