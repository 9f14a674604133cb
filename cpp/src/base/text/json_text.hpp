// Text as a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace tradingdata {

// Appends the text in quotes. Only what JSON cannot hold as it is becomes an escape.
void put_json_text(std::string& out, std::string_view text);

}  // namespace tradingdata
