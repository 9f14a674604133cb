// What must not be shown: what is personal in a record and how it is masked, in columns, kept
// bodies, displays and errors alike, and the one path from a service's text to an error, a log or
// an issue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/secrets.hpp"

namespace tradingdata {

// The length of the name of a personal field at the beginning of a text, or 0. Upper and lower case
// are alike, and marks between the letters do not count: pan_no, PAN_NO, panNo, Pan-No.
std::size_t personal_name_at(std::string_view text);
bool is_personal_name(std::string_view name);

// Masks a personal text: ABCDE1234F is ABXXXXXX4F, and text that is not ten letters and digits is
// all X. Their order does not matter, so that text that is already masked is masked alike.
void mask(char* text, std::size_t size);
std::string masked(std::string_view text);

// The same of each account number in a text that stands by itself: the symbol of a future may
// contain letters and digits of this shape.
std::string without_account_numbers(std::string_view text);

// At most `limit` bytes of a text, then "..."; `<token>` replaces tokens and runs of them. Other
// characters keep their spelling, but for malformed UTF-8; controls are escaped where the text
// becomes Python's. `tokens` may be null.
std::string redacted_head(std::string_view text, std::int64_t limit, TokenSearch* tokens);

// The same for a message, which is one line: a service's text must not begin a line of a log.
std::string redacted_line(std::string_view text, std::int64_t limit, TokenSearch* tokens);

}  // namespace tradingdata
