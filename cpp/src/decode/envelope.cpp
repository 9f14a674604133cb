// Reads the members of the envelope in any order. The records may come before the status that
// says whether they count.
#include "decode/envelope.hpp"

#include "base/text.hpp"
#include "decode/redact.hpp"

namespace tradingdata::detail {

namespace {

using Member = Envelope::Member;

constexpr int member_depth = 1;  // of the members' values

Member pass_member(const Document& body, const char*& at) {
  const char first = *at;
  at = body.pass_value(at, member_depth);
  return first == 'n' ? Member::null : first == '[' ? Member::array : Member::other;
}

}  // namespace

bool Envelope::says_success() const {
  return status == Member::text && same_ignoring_case(status_text, "success");
}

bool Envelope::says_no() const {
  return status == Member::text ? !says_success() : message == Member::text;
}

const char* EnvelopeParser::read(std::int64_t begin) {
  if (next_ == Next::opening) at_ = begin;
  const char* at = body_.pass_space(body_.begin() + at_);  // what had arrived may have ended in one
  const auto go_on = [&](Next next) {
    next_ = next;
    at_ = body_.offset_of(at);
  };
  while (next_ != Next::nothing) {
    switch (next_) {
      case Next::opening: go_on(body_.pass_opening(at, '}') ? Next::member : Next::nothing); break;
      case Next::member:
        at = read_member(at);
        go_on(next_ == Next::records ? Next::records : Next::separator);
        break;
      case Next::records:
        at = records_->read_array(at);
        if (at == nullptr) return nullptr;
        go_on(Next::separator);
        break;
      case Next::separator:
        go_on(body_.pass_separator(at, '}') ? Next::member : Next::nothing);
        break;
      case Next::nothing: break;
    }
  }
  return at;
}

// Returns the place after the member; of records, the place where their array begins.
const char* EnvelopeParser::read_member(const char* at) {
  const char* const key = at;
  const StringScan scan = body_.scan_text(key);
  const std::string name = unescaped(key + 1, scan.end);
  const char* const value = at = body_.pass_mark(scan.end + 1, ':');
  Member* const member = name == "data"      ? &envelope_.data
                         : name == "status"  ? &envelope_.status
                         : name == "message" ? &envelope_.message
                                             : nullptr;
  bool text = false;  // the first text of its member
  if (member == nullptr || *member != Member::absent) {
    if (member != nullptr && !envelope_.repeated) {
      envelope_.repeated =
          at_path(body_.error(key, "the envelope has this member twice"), "$." + name);
    }
    at = body_.pass_value(at, member_depth);
  } else if (member == &envelope_.data) {
    envelope_.data_begin = body_.offset_of(at);
    if (*at == '[' && records_ != nullptr) {
      envelope_.data = Member::array;
      next_ = Next::records;
      return at;
    }
    envelope_.data = pass_member(body_, at);
  } else {
    text = *at == '"';
    const Member kind = pass_member(body_, at);
    *member = text ? Member::text : kind;
  }
  if (text) {
    std::string& said =
        member == &envelope_.status ? envelope_.status_text : envelope_.message_text;
    said = unescaped(value + 1, at - 1);
  }
  if (records_ != nullptr) {
    PanMask& mask = records_->mask();
    if (member == nullptr) mask.hide_tokens_in_text(key + 1, scan.end);
    mask.hide_tokens(value, mask.hide_in_field(is_personal_name(name), value, at));
    mask.keep_changes();
  }
  return at;
}

Envelope read_envelope(const Document& body, const char*& at) {
  EnvelopeParser parser(body, nullptr);
  at = parser.read(body.offset_of(at));
  return parser.envelope();
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
