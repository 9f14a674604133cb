// The object around a book: {data, message, status}, and whatever the service may add.
#pragma once

#include <algorithm>
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

// Reads an envelope, of which the end may still be on its way: `read` then throws, or returns null,
// and the next call continues where the last member or record ended.
class EnvelopeParser {
 public:
  // Records go to `records`, and are only validated where there is none.
  EnvelopeParser(const Document& body, RecordParser* records) : body_(body), records_(records) {}

  // Reads the object at an offset to its end, and returns the place behind it; or null, where the
  // body is still arriving and a record may be cut short.
  const char* read(std::int64_t begin);

  const Envelope& envelope() const { return envelope_; }
  // How many bytes of the body need not be read again.
  std::int64_t passed() const {
    return next_ == Next::records ? std::max(at_, records_->passed()) : at_;
  }

 private:
  enum class Next : std::uint8_t { opening, member, records, separator, nothing };

  const char* read_member(const char* at);

  const Document& body_;
  RecordParser* records_;
  Envelope envelope_;
  Next next_ = Next::opening;
  std::int64_t at_ = 0;  // the offset of what is next
};

// Reads the object at `at`, which is moved behind it.
Envelope read_envelope(const Document& body, const char*& at);

// Throws the service's own error with its message.
[[noreturn]] void throw_service_error(const Envelope& envelope, TokenSearch* tokens);

}  // namespace tradingdata::detail
