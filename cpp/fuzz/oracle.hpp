// What a body means according to simdjson's DOM: the other opinion in the fuzzer.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

#include "table/table.hpp"

namespace tradingdata::oracle {

using Element = simdjson::dom::element;

// The body with what simdjson refuses for its value, not for its grammar, made harmless: digits
// beyond the second of a run are left out, and surrogates written as escapes become a letter.
std::string harmless(std::string_view body);

// Whether a text is JSON; values that simdjson does not hold (see above) count as JSON.
bool is_json(simdjson::dom::parser& parser, std::string_view body);

enum class Verdict { book, service, decode };

// What decoding must come to.
Verdict verdict_of_book(const Element& document, const Schema& schema);
Verdict verdict_of_list(const Element& document, const Schema& schema);

// Aborts where a table does not hold what the array of its records does.
void compare(const Element& records, const Table& table);

// Prints what is wrong and aborts, which libFuzzer reports as a finding.
[[noreturn]] void disagree(std::string_view what);
inline void require(bool right, std::string_view what) {
  if (!right) disagree(what);
}

}  // namespace tradingdata::oracle
