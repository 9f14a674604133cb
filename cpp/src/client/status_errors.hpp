// What an answer that is no success means, in the words and kinds of Error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "http/http.hpp"

namespace tradingdata::detail {

struct Verdict {
  Error error;
  Retry retry = Retry::never;
};

// For every status but 200.
Verdict verdict_of_status(const Request& request, const Response& response,
                          std::int64_t wall_micros);

Error empty_body(int status);

// As much of a body as may be wanted for an error, copied before the body is given away.
std::string raw_head(std::string_view body);

// What `raw_head` kept, fit to be shown: without token and personal data, capped.
std::string safe_head(const Request& request, std::string_view head);

// Takes the token out of everything that an error says.
Error without_token(const Request& request, const Error& error);

}  // namespace tradingdata::detail
