#include "client/status_errors.hpp"

#include <string_view>

#include "base/ascii.hpp"
#include "base/url.hpp"
#include "client/retry.hpp"
#include "decode/decode.hpp"
#include "decode/redact.hpp"

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

std::string advice_of(const Response& response, const TokenSearch* secrets) {
  const int status = response.status;
  if (status >= 300 && status < 400 && status != 304) {
    const std::string where = redacted_line(response.location ? origin_of(*response.location) : "",
                                            shown_message, secrets);
    return "redirects are refused, so that no token goes astray; set base_url to the service's own "
           "address" +
           (where.empty() ? "" : " (it points to " + where + ")");
  }
  switch (kind_of(status)) {
    case ErrorKind::bad_request: return "the service does not accept the request's values";
    case ErrorKind::authentication:
      return status == 401 ? "the access token is missing, wrong or has expired; assign a new one "
                             "to client.access_token"
                           : "the access token does not allow this; check the account's rights";
    case ErrorKind::not_found: return "check base_url: the service is not at this address";
    case ErrorKind::rate_limit: return "too many requests; ask less often, or pass rate_limit=";
    case ErrorKind::server: return "the service failed; try again later";
    default: return is_passing(status) ? "try again later" : "not an answer this service documents";
  }
}

}  // namespace

Verdict verdict_of_status(const Request& request, const Response& response,
                          std::int64_t wall_micros) {
  const int status = response.status;
  const std::shared_ptr<const TokenSearch> secrets = request.secrets();
  const std::string said =
      redacted_line(service_message(response.body.view()), shown_message, secrets.get());
  const std::string phrase(phrase_of(status));
  const bool repeats = same_ignoring_case(trimmed(phrase), trimmed(said));  // as many services do
  Error error(kind_of(status), "HTTP " + std::to_string(status) + phrase +
                                   (said.empty() || repeats ? "" : ": " + said) + "; " +
                                   advice_of(response, secrets.get()));
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
  Error error(ErrorKind::decode,
              "empty body: HTTP " + std::to_string(status) +
                  " without any content, which is not the same as a book without rows");
  error.status_code = status;
  error.retryable = true;
  error.offset = 0;
  return error;
}

}  // namespace tradingdata::detail
