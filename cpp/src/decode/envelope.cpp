// Reads the members of the envelope in any order. The records may come before the status that
// says whether they count.
#include "decode/envelope.hpp"

#include "base/text.hpp"
#include "privacy/personal.hpp"
#include "privacy/shown.hpp"

namespace tradingdata::detail {

namespace {

using Member = Envelope::Member;

constexpr int member_depth = 1;  // of the members' values

Member pass_member(const Document& body, const char*& at) {
  const char first = *at;
  at = body.pass_value(at, member_depth);
  switch (first) {
    case 'n': return Member::null;
    case '"': return Member::text;
    case '[': return Member::array;
    default: return Member::other;
  }
}

}  // namespace

bool Envelope::says_success() const {
  return status == Member::text && same_ignoring_case(status_text, "success");
}

bool Envelope::says_no() const {
  return status == Member::text ? !says_success() : message == Member::text;
}

namespace {

// Returns the place after the member, or null where its records are still arriving.
const char* read_member(const Document& body, const char* key, RecordParser* records,
                        Envelope& envelope) {
  const StringScan scan = body.scan_text(key);
  const std::string name = unescaped(key + 1, scan.end);
  const char* const value = body.pass_mark(scan.end + 1, ':');
  Member* const member = name == "data"      ? &envelope.data
                         : name == "status"  ? &envelope.status
                         : name == "message" ? &envelope.message
                                             : nullptr;
  const bool first = member != nullptr && *member == Member::absent;
  if (member != nullptr && !first && !envelope.repeated) {
    envelope.repeated = at_path(body.error(key, "the envelope has this member twice"), "$." + name);
  }
  const char* at = value;
  if (first && member == &envelope.data) {
    envelope.data_begin = body.offset_of(value);
    if (*value == '[' && records != nullptr) {
      envelope.data = Member::array;
      return records->read_array(value);
    }
  }
  const Member kind = pass_member(body, at);
  if (first) *member = kind;
  if (first && kind == Member::text) {
    const std::string text = unescaped(value + 1, at - 1);
    if (member == &envelope.status) envelope.status_text = text;
    if (member == &envelope.message) envelope.message_text = text;
  }
  if (records != nullptr && body.complete()) {
    PanMask& mask = records->mask();
    if (member == nullptr) mask.hide_tokens_in_text(key + 1, scan.end);
    mask.hide_in_field(is_personal_name(name), value, at);
    mask.hide_tokens(value, at);
  }
  return at;
}

}  // namespace

Envelope read_envelope(const Document& body, const char*& at, RecordParser* records) {
  Envelope envelope;
  if (!body.pass_opening(at, '}')) return envelope;
  do {
    at = read_member(body, at, records, envelope);
  } while (at != nullptr && body.pass_separator(at, '}'));
  return envelope;
}

void throw_service_error(const Envelope& envelope, TokenSearch* tokens) {
  constexpr std::int64_t most_shown = 500;
  const std::string said = redacted_line(envelope.message_text, most_shown, tokens);
  const std::string status = redacted_line(envelope.status_text, most_shown, tokens);
  Error error(ErrorKind::service, "the service returned status \"" + status + "\"" +
                                      (said.empty() ? " and no message" : ": " + said));
  error.service_message = said;
  throw error;
}

}  // namespace tradingdata::detail
