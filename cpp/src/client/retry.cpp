// Exponential back-off with full jitter, Retry-After in both of its forms, and a quota that ends
// retries during an outage.
#include "client/retry.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "decode/decode.hpp"
#include "decode/redact.hpp"
#include "http/address.hpp"
#include "http/http.hpp"

namespace tradingdata {

namespace {

// Digits, perhaps with a fraction: no sign, no exponent.
std::optional<double> parse_seconds(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos ||
      !is_digit(text.front()) || !is_digit(text.back())) {
    return std::nullopt;
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (result.ptr != end || result.ec != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

Duration RetryPolicy::backoff(int i, double random) const {
  constexpr int enough_doublings = 20;
  const Duration doubled = base * (std::int64_t{1} << std::min(i, enough_doublings));
  return from_seconds(random * to_seconds(std::min(longest, doubled)));
}

std::optional<double> retry_after_seconds(const std::string& value,
                                          const std::optional<std::string>& date,
                                          std::int64_t wall_micros) {
  constexpr double longest_plausible = 366.0 * 24 * 3600;
  std::optional<double> seconds = parse_seconds(trimmed(value));
  if (!seconds) {
    const std::optional<std::int64_t> then = parse_http_date(value);
    if (!then) return std::nullopt;
    const std::optional<std::int64_t> server_now = date ? parse_http_date(*date) : std::nullopt;
    seconds = server_now ? static_cast<double>(*then - *server_now)
                         : static_cast<double>(*then) - static_cast<double>(wall_micros) / 1e6;
  }
  if (*seconds > longest_plausible) return std::nullopt;
  return std::max(*seconds, 0.0);
}

int RetryQuota::acquire(bool timeout) {
  const int cost = timeout ? timeout_cost : retry_cost;
  int left = left_.load(std::memory_order_relaxed);
  do {
    if (left < cost) return 0;
  } while (!left_.compare_exchange_weak(left, left - cost, std::memory_order_relaxed));
  return cost;
}

void RetryQuota::release(int taken) {
  const int back = taken > 0 ? taken : reward;
  int left = left_.load(std::memory_order_relaxed);
  while (!left_.compare_exchange_weak(left, std::min(capacity, left + back),
                                      std::memory_order_relaxed)) {
  }
}

// Reserves a time slot for each request by the generic cell rate algorithm, which needs one
// number instead of a queue.

RateLimit::RateLimit(double per_second, int burst) : per_second_(per_second), burst_(burst) {
  if (!std::isfinite(per_second) || per_second <= 0) {
    throw Error(ErrorKind::configuration, "RateLimit: per_second must be a number above 0");
  }
  if (burst < 1 || burst > 1'000'000) {
    throw Error(ErrorKind::configuration, "RateLimit: burst must be from 1 to 1,000,000");
  }
  interval_ = to_seconds(from_seconds(1 / per_second));
  tolerance_ = interval_ * (burst - 1);
}

std::optional<TimePoint> RateLimit::reserve(TimePoint now, TimePoint latest) {
  const double at = to_seconds(now.time_since_epoch());
  double next = next_.load(std::memory_order_relaxed);
  while (true) {
    const double slot = std::max(next, at);
    const TimePoint start = now + from_seconds(slot - tolerance_ - at);
    if (start > latest) return std::nullopt;
    if (next_.compare_exchange_weak(next, slot + interval_, std::memory_order_relaxed)) {
      return start;
    }
  }
}

}  // namespace tradingdata

namespace tradingdata::detail {

// Errors for HTTP statuses other than 200, and for empty bodies. Their texts come from the service,
// so they are redacted and shortened here.

namespace {

constexpr std::int64_t shown_body = 2048;
constexpr std::int64_t shown_message = 300;

// Whether a status may be temporary.
bool is_passing(int status) {
  switch (status) {
    case 408:
    case 425:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504: return true;
    default: return false;
  }
}

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

Error status_error(const Request& request, const Response& response, std::int64_t wall_micros) {
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
  return error;
}

Error empty_body_error(int status) {
  Error error(ErrorKind::decode, "empty body: HTTP " + std::to_string(status) +
                                     " without content, which is not a book without rows");
  error.status_code = status;
  error.retryable = true;
  error.offset = 0;
  return error;
}

}  // namespace tradingdata::detail
