// The one path from a service's text to an error, a log or an issue: tokens are removed, personal
// values masked, and only then is the text cut. Controls and bidirectional marks are escaped where
// it becomes Python's, as in all text that is displayed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tradingdata {

class TokenSearch;

// At most `limit` bytes of a text, then "..."; `<token>` replaces tokens and runs of them. Other
// characters keep their spelling, but for malformed UTF-8. `tokens` may be null.
std::string redacted_head(std::string_view text, std::int64_t limit, TokenSearch* tokens);

// The same for a message, which is one line: a service's text must not begin a line of a log.
std::string redacted_line(std::string_view text, std::int64_t limit, TokenSearch* tokens);

}  // namespace tradingdata
