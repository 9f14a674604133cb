// The object around a book: {data, message, status}, and whatever the service may add.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "decode/json.hpp"
#include "decode/record_parser.hpp"

namespace tradingdata::detail {

struct Envelope {
  // The kind of a member's value.
  enum class Member : std::uint8_t { absent, null, text, array, other };

  Member data = Member::absent;
  Member status = Member::absent;
  Member message = Member::absent;
  std::int64_t data_begin = -1;  // its offset
  std::string status_text;
  std::string message_text;
  std::optional<Error> repeated;  // a member occurs twice

  bool says_success() const;
  // Not success, or a message without a status: such an envelope is an error of the service.
  bool says_no() const;
};

// Reads the object at `at`, which is moved behind it; or to null, where the body is still arriving
// and the records are what is next. Records go to `records`, and are only validated where there is
// none.
Envelope read_envelope(const Document& body, const char*& at, RecordParser* records = nullptr);

// Throws the service's own error with its message.
[[noreturn]] void throw_service_error(const Envelope& envelope, TokenSearch* tokens);

}  // namespace tradingdata::detail
