// Turns responses that are no success into errors.
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

}  // namespace tradingdata::detail
