// The object that books come in: {data, message, status}, and what else the service may add.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "decode/json_grammar.hpp"
#include "decode/record_parser.hpp"

namespace tradingdata::detail {

struct Envelope {
  // What stood under a key.
  enum class Member : std::uint8_t { absent, null, text, array, other };

  Member data = Member::absent;
  Member status = Member::absent;
  Member message = Member::absent;
  const char* data_begin = nullptr;
  std::string status_text;
  std::string message_text;
  std::optional<Error> repeated;  // a member stands twice

  bool says_success() const;
  // Not success, or no status at all but a message: such an envelope is an error of the service.
  bool says_no() const;
};

// Reads the object at `at`, which is moved behind it; its records go to `records`, and are only
// validated where there is none.
Envelope read_envelope(const Document& body, const char*& at, RecordWalk* records);

// The service's own error, in its words.
[[noreturn]] void throw_service_error(const Envelope& envelope, const TokenSearch* tokens);

}  // namespace tradingdata::detail
