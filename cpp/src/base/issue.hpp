// Values that did not fit their column, with one entry for each field and problem.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tradingdata {

enum class Problem : std::uint8_t {
  missing,
  not_text,
  not_number,
  not_integer,
  not_time,
  not_date,
  out_of_range,
  would_round,
  lone_surrogate,
  empty_text,
  number_as_text,
  text_as_number,
  integer_as_fraction,
  time_in_other_form,
  time_cut,
  offset_dropped,
  offset_differs,
  date_with_time,
  repeated_key,
  several_clients,
  repeated_trade,
  token_sent,
};

struct ProblemInfo {
  std::string_view text;
  bool lost;  // the value could not be kept
};

inline constexpr int problem_count = static_cast<int>(Problem::token_sent) + 1;

constexpr ProblemInfo describe(Problem problem) {
  switch (problem) {
    case Problem::missing: return {"missing", true};
    case Problem::not_text: return {"not text", true};
    case Problem::not_number: return {"not a number", true};
    case Problem::not_integer: return {"not an integer", true};
    case Problem::not_time: return {"not a time", true};
    case Problem::not_date: return {"not a date", true};
    case Problem::out_of_range: return {"out of range", true};
    case Problem::would_round: return {"an integer beyond 2**53 would round", true};
    case Problem::lone_surrogate: return {"half a surrogate pair", true};
    case Problem::empty_text: return {"empty text", false};
    case Problem::number_as_text: return {"number sent as text", false};
    case Problem::text_as_number: return {"text sent as a number", false};
    case Problem::integer_as_fraction: return {"integer written with a fraction", false};
    case Problem::time_in_other_form: return {"time in another form", false};
    case Problem::time_cut: return {"time finer than a microsecond, cut", false};
    case Problem::offset_dropped: return {"offset from UTC, dropped", false};
    case Problem::offset_differs:
      return {"another offset from UTC than in the rest, or none", true};
    case Problem::date_with_time: return {"date with midnight behind it", false};
    case Problem::repeated_key: return {"unknown field sent twice, last kept", true};
    case Problem::several_clients: return {"more than one client in a book", false};
    case Problem::repeated_trade: return {"the same trade more than once", false};
    case Problem::token_sent: return {"the access token, now X", true};
  }
  return {"unknown", true};
}

struct Issue {
  std::string field;  // its wire name; "$" for the complete response
  Problem problem;
  std::int64_t count = 0;
  std::int64_t row = 0;  // the first
  std::string raw;       // the first's JSON text, capped; personal data is not shown
};

}  // namespace tradingdata
