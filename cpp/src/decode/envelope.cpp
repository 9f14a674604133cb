#include "decode/envelope.hpp"

#include "base/ascii.hpp"
#include "decode/object_walk.hpp"
#include "decode/redact.hpp"
#include "table/personal.hpp"

namespace tradingdata::detail {

namespace {

using Member = Envelope::Member;

constexpr int member_depth = 1;  // of the members' values

Member pass_member(const Document& body, const char*& at) {
  const char first = *at;
  at = body.pass_value(at, member_depth);
  return first == 'n' ? Member::null : first == '[' ? Member::array : Member::other;
}

Member read_member_text(const Document& body, const char*& at, std::string& text) {
  if (*at != '"') return pass_member(body, at);
  const StringScan scan = body.scan_text(at);
  text = unescaped(at + 1, scan.end);
  at = scan.end + 1;
  return Member::text;
}

Member read_data(const Document& body, const char*& at, RecordWalk* records) {
  if (*at != '[' || records == nullptr) return pass_member(body, at);
  at = records->read_array(at);
  return Member::array;
}

}  // namespace

bool Envelope::says_success() const {
  return status == Member::text && same_ignoring_case(status_text, "success");
}

bool Envelope::says_no() const {
  return status == Member::text ? !says_success() : message == Member::text;
}

Envelope read_envelope(const Document& body, const char*& at, RecordWalk* records) {
  Envelope envelope;
  if (!body.pass_opening(at, '}')) return envelope;
  do {
    const char* const key = at;
    const StringScan scan = body.scan_text(key);
    const std::string name = unescaped(key + 1, scan.end);
    const char* const value = at = body.pass_mark(scan.end + 1, ':');
    Member* const member = name == "data"      ? &envelope.data
                           : name == "status"  ? &envelope.status
                           : name == "message" ? &envelope.message
                                               : nullptr;
    if (member == nullptr || *member != Member::absent) {
      if (member != nullptr && !envelope.repeated) {
        envelope.repeated =
            at_path(body.error(key, "the envelope has this member twice"), "$." + name);
      }
      at = body.pass_value(at, member_depth);
    } else if (member == &envelope.data) {
      envelope.data_begin = at;
      envelope.data = read_data(body, at, records);
    } else {
      *member = read_member_text(
          body, at, member == &envelope.status ? envelope.status_text : envelope.message_text);
    }
    const bool of_records = member == &envelope.data && *member == Member::array;
    if (records != nullptr && !of_records) {
      records->mask().hide_in_field(is_personal_name(name), value, at);
    }
  } while (body.pass_separator(at, '}'));
  return envelope;
}

void throw_service_error(const Envelope& envelope, const TokenSearch* tokens) {
  constexpr std::int64_t most_shown = 500;
  const std::string said = redacted_line(envelope.message_text, most_shown, tokens);
  const std::string status = redacted_line(envelope.status_text, most_shown, tokens);
  Error error(ErrorKind::service, "the service answered with status \"" + status + "\"" +
                                      (said.empty() ? " and no message" : ": " + said));
  error.service_message = said;
  throw error;
}

}  // namespace tradingdata::detail
