// The keys and values of one object, for code that is not time-critical: what the fast parser does
// not store is found again by parsing a record once more.
#pragma once

#include "decode/json/json_grammar.hpp"

namespace tradingdata::detail {

struct Pair {
  const char* from;  // the brace or the space and comma before the key
  const char* key;   // its opening quote
  StringScan scan;   // of the key
  const char* value;
};

// Calls visit(pair) for each pair, before its value is passed, until that is false.
template <typename Visit>
void visit_pairs(const Document& body, const char* object, int depth, Visit visit) {
  const char* from = object;
  const char* at = object;
  if (!body.pass_opening(at, '}')) return;
  do {
    Pair pair{.from = from, .key = at, .scan = body.scan_text(at), .value = nullptr};
    pair.value = body.pass_mark(pair.scan.end + 1, ':');
    if (!visit(pair)) return;
    at = from = body.pass_value(pair.value, depth);
  } while (body.pass_separator(at, '}'));
}

inline std::string name_of(const Pair& pair) {
  return unescaped(pair.key + 1, pair.scan.end);
}

}  // namespace tradingdata::detail
