// Exponential back-off with full jitter, Retry-After in both of its forms, and a quota that ends
// retries during an outage.
#include "client/retry.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/text.hpp"
#include "decode/decode.hpp"
#include "decode/redact.hpp"
#include "http/address.hpp"

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

// What is known of an HTTP status.
struct Status {
  int code;
  std::string_view phrase;
  ErrorKind kind;
  const char* help;
  bool passing = false;           // it may be temporary
  std::string_view meaning = {};  // where the phrase does not say it
};

constexpr bool passing = true;

constexpr Status known_statuses[] = {
    {400, " Bad Request", ErrorKind::bad_request, advice::none},
    {401, " Unauthorized", ErrorKind::authentication, advice::new_token, false,
     "; the access token is missing, wrong or expired"},
    {403, " Forbidden", ErrorKind::authentication, advice::permissions, false,
     "; the access token does not permit this call"},
    {404, " Not Found", ErrorKind::not_found, advice::base_url, false,
     "; the service is not at this address"},
    {405, " Method Not Allowed", ErrorKind::bad_request, advice::none},
    {408, " Request Timeout", ErrorKind::status, advice::try_later, passing},
    {422, " Unprocessable Content", ErrorKind::bad_request, advice::none},
    {425, " Too Early", ErrorKind::status, advice::try_later, passing},
    {429, " Too Many Requests", ErrorKind::rate_limit, advice::fewer_requests, passing},
    {500, " Internal Server Error", ErrorKind::server, advice::try_later, passing},
    {502, " Bad Gateway", ErrorKind::server, advice::try_later, passing},
    {503, " Service Unavailable", ErrorKind::server, advice::try_later, passing},
    {504, " Gateway Timeout", ErrorKind::server, advice::try_later, passing},
};

bool is_redirect(int status) {
  return status >= 300 && status < 400 && status != 304;
}

Status status_of(int code) {
  const auto* const known = std::ranges::find(known_statuses, code, &Status::code);
  if (known != std::end(known_statuses)) return *known;
  if (is_redirect(code)) return {code, {}, ErrorKind::status, advice::base_url};
  if (code >= 500 && code < 600) return {code, {}, ErrorKind::server, advice::try_later};
  return {code,         {},    ErrorKind::status,
          advice::none, false, "; the service does not document this status"};
}

// What the status means, where its phrase does not say it.
std::string meaning_of(const Status& status, const Response& response, TokenSearch* secrets) {
  if (!is_redirect(status.code)) return std::string(status.meaning);
  const std::string where =
      redacted_line(response.location ? origin_of(*response.location) : "", shown_message, secrets);
  return "; redirects are not followed, so that the token is not sent elsewhere" +
         (where.empty() ? "" : " (the target is " + where + ")");
}

}  // namespace

Error status_error(const Request& request, const Response& response, std::int64_t wall_micros) {
  const Status status = status_of(response.status);
  const std::shared_ptr<TokenSearch> secrets = request.secrets();
  const std::string said =
      redacted_line(service_message(response.body.view()), shown_message, secrets.get());
  const std::string phrase(status.phrase);
  // Many services repeat the phrase as their message.
  const bool repeats = same_ignoring_case(trimmed(phrase), trimmed(said));
  Error error(status.kind,
              "HTTP " + std::to_string(status.code) + phrase +
                  (said.empty() || repeats ? "" : ": " + said) +
                  meaning_of(status, response, secrets.get()),
              status.help);
  error.status_code = status.code;
  error.retryable = status.passing;
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
