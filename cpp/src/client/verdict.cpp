// One rule for each kind of outcome, and one table of HTTP statuses. Texts that come from the
// service are redacted and shortened here.
#include "client/verdict.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "client/retry.hpp"
#include "decode/decode.hpp"
#include "http/address.hpp"
#include "privacy/shown.hpp"

namespace tradingdata {

namespace {

constexpr std::int64_t shown_body = 2048;       // bytes
constexpr std::int64_t longest_message = 300;   // of a service's message
constexpr std::int64_t longest_failure = 1000;  // of a transport's message

// What is known of an HTTP status.
struct Status {
  int code;
  std::string_view phrase;
  ErrorKind kind;
  Retry retry;
  const char* help;
  std::string_view meaning = {};  // where the phrase does not say it
};

constexpr Status long_headers{431,
                              " Request Header Fields Too Large",
                              ErrorKind::bad_request,
                              Retry::never,
                              advice::token_text,
                              "; the request's headers, with the access token, are too large"};

// 501 and 505 say that the request itself is not understood.
constexpr Status known_statuses[] = {
    {400, " Bad Request", ErrorKind::bad_request, Retry::never, advice::arguments},
    {401, " Unauthorized", ErrorKind::authentication, Retry::never, advice::new_token,
     "; the access token is missing, wrong or expired"},
    {403, " Forbidden", ErrorKind::authentication, Retry::never, advice::permissions,
     "; the access token does not permit this call"},
    {404, " Not Found", ErrorKind::not_found, Retry::never, advice::base_url,
     "; the service is not at this address"},
    {405, " Method Not Allowed", ErrorKind::bad_request, Retry::never, advice::base_url,
     "; this address takes no such request"},
    {408, " Request Timeout", ErrorKind::status, Retry::always, advice::try_later},
    {422, " Unprocessable Content", ErrorKind::bad_request, Retry::never, advice::arguments},
    {425, " Too Early", ErrorKind::status, Retry::always, advice::try_later},
    long_headers,
    {429, " Too Many Requests", ErrorKind::rate_limit, Retry::always, advice::fewer_requests},
    {500, " Internal Server Error", ErrorKind::server, Retry::always, advice::try_later},
    {501, " Not Implemented", ErrorKind::server, Retry::never, advice::base_url},
    {502, " Bad Gateway", ErrorKind::server, Retry::always, advice::try_later},
    {503, " Service Unavailable", ErrorKind::server, Retry::always, advice::try_later},
    {504, " Gateway Timeout", ErrorKind::server, Retry::always, advice::try_later},
    {505, " HTTP Version Not Supported", ErrorKind::server, Retry::never, advice::base_url},
    {511, " Network Authentication Required", ErrorKind::server, Retry::always,
     advice::network_login, "; the network wants a login"},
};

// What a gateway says by a header or on its page, whatever the status means elsewhere.
constexpr Status limited{0,
                         {},
                         ErrorKind::rate_limit,
                         Retry::always,
                         advice::fewer_requests,
                         "; a gateway limits requests or asks for a browser"};
constexpr Status only_https{
    0, {}, ErrorKind::bad_request, Retry::never, advice::base_url, "; this port takes https only"};

// Words that the pages of nginx, Apache, Go and Cloudflare and the messages of services have.
struct Page {
  int code;
  std::string_view words;
  const Status* status;
};

constexpr Page pages[] = {
    {403, "rate limit", &limited},
    {403, "too many requests", &limited},
    {403, "<title>just a moment", &limited},
    {400, "header or cookie too large", &long_headers},
    {400, "header field exceeds", &long_headers},
    {400, "http request was sent to https", &only_https},
    {400, "http request to an https", &only_https},
    {400, "http to an ssl-enabled", &only_https},
};

bool is_redirect(int status) {
  return status >= 300 && status < 400 && status != 304;
}

// Where a gateway says so, what it means. 202 and 405 are the challenges of AWS WAF.
const Status* said_by_gateway(const Response& response) {
  const int code = response.status;
  if (code == 403 && response.retry_after) return &limited;
  if ((code == 202 || code == 403 || code == 405) && response.limits) return &limited;
  const std::string body = lower_case(response.body.view().substr(0, shown_body));
  for (const Page& page : pages) {
    if (page.code == code && body.find(page.words) != std::string::npos) return page.status;
  }
  return nullptr;
}

Status documented(int code) {
  const auto* const known = std::ranges::find(known_statuses, code, &Status::code);
  if (known != std::end(known_statuses)) return *known;
  if (is_redirect(code)) return {code, {}, ErrorKind::status, Retry::never, advice::base_url};
  if (code >= 500 && code < 600) {
    return {code, {}, ErrorKind::server, Retry::always, advice::try_later};
  }
  Status other{code, {}, ErrorKind::status, Retry::never, advice::report};
  other.meaning = "; the service does not document this status";
  return other;
}

Status status_of(const Response& response) {
  Status status = documented(response.status);
  if (const Status* const said = said_by_gateway(response)) {
    const std::string_view phrase = status.phrase;
    status = *said;
    status.code = response.status;
    status.phrase = phrase;
  }
  return status;
}

// What the status means, where its phrase does not say it.
std::string meaning_of(const Status& status, const Response& response, TokenSearch* secrets) {
  if (!is_redirect(status.code)) return std::string(status.meaning);
  const std::string where = redacted_line(response.location ? origin_of(*response.location) : "",
                                          longest_message, secrets);
  return "; redirects are not followed, so that the token is not sent elsewhere" +
         (where.empty() ? "" : " (the target is " + where + ")");
}

Error status_error(const Status& status, const Request& request, const Response& response,
                   std::int64_t wall_micros) {
  const std::shared_ptr<TokenSearch> secrets = request.secrets();
  const std::string said =
      redacted_line(service_message(response.body.view()), longest_message, secrets.get());
  const std::string phrase(status.phrase);
  // Many services repeat the phrase as their message.
  const bool repeats = same_ignoring_case(trimmed(phrase), trimmed(said));
  Error error(status.kind,
              "HTTP " + std::to_string(status.code) + phrase +
                  (said.empty() || repeats ? "" : ": " + said) +
                  meaning_of(status, response, secrets.get()),
              status.help);
  error.status_code = status.code;
  error.service_message = said;
  error.body = redacted_head(response.body.view(), shown_body, secrets.get());
  if (response.retry_after) {
    error.retry_after = retry_after_seconds(*response.retry_after, response.date, wall_micros);
  }
  return error;
}

Error empty_body_error(int status) {
  Error error(ErrorKind::decode,
              "empty body: HTTP " + std::to_string(status) +
                  " without content, which is not a book without rows",
              advice::report);
  error.status_code = status;
  error.offset = 0;
  return error;
}

// The error of an attempt with what follows from it. What is tried again may pass.
Verdict concluded(Error error, Retry retry, bool timeout = false, bool passing = false) {
  error.retryable = retry != Retry::never;
  error.passing = passing || error.retryable;
  return {std::move(error), retry, timeout};
}

}  // namespace

bool has_content(const Response& response) {
  return response.status == 200 && response.body.size() > 0;
}

Verdict verdict(const Request& request, const Response& response, std::int64_t wall_micros) {
  if (response.status == 200 || response.status == 204) {
    return concluded(empty_body_error(response.status), Retry::once);
  }
  const Status status = status_of(response);
  return concluded(status_error(status, request, response, wall_micros), status.retry);
}

Verdict verdict(const Request& request, const Failure& failure) {
  Error error(failure.kind,
              redacted_line(failure.message, longest_failure, request.secrets().get()),
              failure.help);
  return concluded(std::move(error), failure.retry, failure.timeout,
                   failure.kind == ErrorKind::deadline);
}

// A server in between may have read a cut body to its end, and counted the bytes anew. A web page
// with status 200 is a gateway's, which may stop sending it.
Verdict verdict(Error refusal) {
  if (*refusal.help == '\0') refusal.help = advice::report;
  if (!refusal.incomplete) {
    const bool web_page = std::string_view(refusal.help) == advice::base_url;
    return concluded(std::move(refusal), Retry::never, false, web_page);
  }
  Error cut = refusal.reworded(std::string("incomplete body: ") + refusal.what());
  cut.kind = ErrorKind::transport;
  return concluded(std::move(cut), Retry::always);
}

}  // namespace tradingdata
