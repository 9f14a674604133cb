// Decides from the first bytes whether a body is a book, a list or neither, and walks it as its
// pieces arrive.
#include "decode/decode.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "decode/issues.hpp"
#include "decode/json.hpp"
#include "decode/record_parser.hpp"
#include "privacy/personal.hpp"
#include "privacy/shown.hpp"

namespace tradingdata {

namespace {

using detail::Document;
using detail::RecordParser;
using Form = Decoder::Form;

// The object around a book: {data, message, status}, and whatever the service may add.
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

  bool says_success() const {
    return status == Member::text && same_ignoring_case(status_text, "success");
  }
  // Not success, or a message without a status: such an envelope is an error of the service.
  bool says_no() const {
    return status == Member::text ? !says_success() : message == Member::text;
  }
};

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
    envelope.repeated =
        detail::at_path(body.error(key, "the envelope has this member twice"), "$." + name);
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
    detail::PanMask& mask = records->mask();
    if (member == nullptr) mask.hide_tokens_in_text(key + 1, scan.end);
    mask.hide_in_field(is_personal_name(name), value, at);
    mask.hide_tokens(value, at);
  }
  return at;
}

// Reads the members of the object at `at`, in any order, and moves `at` behind it; or to null,
// where the body is still arriving and the records are what is next. Records go to `records`, and
// are only validated where there is none. They may come before the status that says whether they
// count.
Envelope read_envelope(const Document& body, const char*& at, RecordParser* records = nullptr) {
  Envelope envelope;
  if (!body.pass_opening(at, '}')) return envelope;
  do {
    at = read_member(body, at, records, envelope);
  } while (at != nullptr && body.pass_separator(at, '}'));
  return envelope;
}

// Throws the service's own error with its message.
[[noreturn]] void throw_service_error(const Envelope& envelope, TokenSearch* tokens) {
  constexpr std::int64_t most_shown = 500;
  const std::string said = redacted_line(envelope.message_text, most_shown, tokens);
  const std::string status = redacted_line(envelope.status_text, most_shown, tokens);
  Error error(ErrorKind::service, "the service returned status \"" + status + "\"" +
                                      (said.empty() ? " and no message" : ": " + said));
  error.service_message = said;
  throw error;
}

[[noreturn]] void refuse(const Document& body, const char* place, std::string_view problem,
                         std::string_view path) {
  throw detail::at_path(body.error(place, problem), path);
}

// The place of the first value, once it is clear that this may be JSON at all.
const char* first_value(const Document& body) {
  const char* const at = body.pass_space(body.pass_bom(body.begin()));
  if (at == body.end()) {
    Error error(ErrorKind::decode, "the response is empty");
    error.offset = 0;
    error.path = "$";
    error.incomplete = true;
    throw error;
  }
  const auto byte = [&](int i) { return static_cast<unsigned char>(body.begin()[i]); };
  const bool utf16 = (byte(0) | byte(1)) == 0xFF && (byte(0) & byte(1)) == 0xFE;
  if (utf16 || (body.end() - at > 1 && (byte(0) == 0) != (byte(1) == 0))) {
    body.fail(at, "it is UTF-16 or UTF-32, not UTF-8");
  }
  if (*at == '<') {
    Error error = body.error(at, "it is a web page, such as a login page,");
    error.help = advice::base_url;
    throw error;
  }
  return at;
}

// The document is neither a book nor a list; if it is not JSON either, that is reported first.
[[noreturn]] void refuse_other(const Document& body, const char* at, std::string_view problem) {
  body.pass_end(body.pass_value(at, 0));
  refuse(body, at, problem, "$");
}

constexpr std::string_view no_list = "it is not an array of stocks";

// What the envelope says, once it is complete.
void judge_book(const Document& body, const char* begin, const Envelope& envelope,
                TokenSearch* tokens) {
  if (envelope.repeated) throw *envelope.repeated;
  if (envelope.status == Member::text && !envelope.says_success()) {
    throw_service_error(envelope, tokens);
  }
  if (envelope.status != Member::text) {
    refuse(body, begin, "the envelope has no status that is text", "$.status");
  }
  if (envelope.data == Member::absent) refuse(body, begin, "the envelope has no data", "$.data");
  if (envelope.data != Member::null && envelope.data != Member::array) {
    refuse(body, body.begin() + envelope.data_begin, "data is not an array", "$.data");
  }
}

// A list was expected: the body is the service's own error, or no hits, or no response of its.
void judge_other_list(const Document& body, const char* begin, TokenSearch* tokens) {
  const char* at = begin;
  if (*begin == 'n') return body.pass_end(body.pass_value(at, 0));  // null: no hits
  if (*begin != '{') refuse_other(body, begin, no_list);
  const Envelope envelope = read_envelope(body, at);
  body.pass_end(at);
  if (envelope.says_no()) throw_service_error(envelope, tokens);
  refuse(body, begin, no_list, "$");
}

}  // namespace

// The walk over one body and its results so far. While the body is arriving, each call continues
// behind the last record; one that threw is the last one.
class Decoder::Parser {
 public:
  Parser(const Schema& schema, Form form, const DecodeOptions& options, std::int64_t step)
      : form_(form),
        options_(options),
        table_(schema),
        records_(body_, table_, options_, form == Form::book ? "$.data" : "$",
                 form == Form::book ? 1 : 0, step / 8) {
    table_.hold_body(Buffer());
    table_.set_masked(!options_.keep_personal_data);
  }

  // Returns how many bytes of the body need not be read again.
  std::int64_t advance(Buffer& body) {
    read({body.data(), body.size(), body.capacity(), false});
    return records_.passed();
  }

  TablePtr finish(Buffer bytes) {
    constexpr std::int64_t most_shown = 500;  // bytes of the body in an error
    if (bytes.data() == nullptr) bytes.reserve(0);
    table_.swap_body(bytes);
    try {
      read(Document(table_.table().buffers().front()));
      note_tokens();
      if (!options_.written) set_local_fields();
    } catch (Error& error) {
      error.body = redacted_head(body_.view(), most_shown, options_.tokens.get());
      throw;
    }
    return std::move(table_).build();
  }

 private:
  void read(const Document& body) {
    body_ = body;
    records_.bind();
    const char* const begin = first_value(body_);
    form_ == Form::book ? read_book(begin) : read_list(begin);
  }

  void read_book(const char* begin) {
    if (*begin != '{') refuse_other(body_, begin, no_book);
    const char* at = begin;
    const Envelope envelope = read_envelope(body_, at, &records_);
    if (!body_.complete()) return;
    body_.pass_end(at);
    judge_book(body_, begin, envelope, options_.tokens.get());
    if (records_.refusal()) throw *records_.refusal();
  }

  void read_list(const char* begin) {
    if (*begin != '[') return judge_other_list(body_, begin, options_.tokens.get());
    const char* const end = records_.read_array(begin);
    if (!body_.complete()) return;
    body_.pass_end(end);
    if (records_.refusal()) throw *records_.refusal();
  }

  // A service that sends the token back has a fault that its client's user should know of.
  void note_tokens() {
    const std::int64_t count = options_.tokens ? options_.tokens->overwritten : 0;
    if (count == 0) return;
    if (options_.strict) refuse(body_, body_.begin(), "it repeats the access token (strict)", "$");
    table_.issues().push_back(Issue{"$", Problem::token_sent, count, 0, ""});
  }

  // The label of the account is the only one so far.
  void set_local_fields() {
    const Schema& schema = table_.table().schema();
    for (int field = schema.sent(); field < schema.width(); ++field) {
      table_.set_all(field, options_.account);
    }
  }

  static constexpr std::string_view no_book = "it is not an envelope with data, message and status";

  Form form_;
  DecodeOptions options_;
  Document body_;
  TableBuilder table_;
  RecordParser records_;
};

Decoder::Decoder(const Schema& schema, Form form, DecodeOptions options, std::int64_t step)
    : schema_(schema), form_(form), options_(std::move(options)), step_(step), next_(step) {
  if (options_.tokens) options_.tokens->overwritten = 0;
}

Decoder::~Decoder() = default;

void Decoder::advance(Buffer& body) noexcept {
  if (body.size() < next_) return;
  try {
    if (!parser_) parser_ = std::make_unique<Parser>(schema_, form_, options_, step_);
    passed_ = parser_->advance(body);
    // A record or member of many steps is read again each time that its size has doubled.
    next_ = body.size() + std::max(step_, body.size() - passed_);
  } catch (const std::exception&) {
    // An element that is much longer than those before it was cut short, or there is an error: the
    // complete body, read from its beginning, shows which.
    parser_.reset();
    passed_ = 0;
    next_ = std::numeric_limits<std::int64_t>::max();
  }
}

TablePtr Decoder::finish(Buffer body) {
  if (body.size() > Document::greatest_size) {
    throw Error(ErrorKind::decode, "the response is larger than 2 GiB, more than a book can hold");
  }
  if (!parser_) parser_ = std::make_unique<Parser>(schema_, form_, options_, step_);
  return parser_->finish(std::move(body));
}

TablePtr decode_copy(const Schema& schema, Form form, std::string_view body,
                     const DecodeOptions& options) try {
  return Decoder(schema, form, options).finish(Buffer(body));
} catch (Error& error) {
  error.help = advice::saved_body;
  throw;
}

std::string masked_json(std::string_view json) {
  Buffer bytes(json);
  const Document body(bytes);
  const char* const begin = first_value(body);
  const char* const end = body.pass_value(begin, 0);
  body.pass_end(end);
  detail::PanMask(body, true).hide_in_field(false, begin, end);
  return std::string(bytes.view());
}

std::string service_message(std::string_view content) {
  try {
    const Buffer bytes(content);
    const Document body(bytes);
    const char* at = first_value(body);
    if (*at != '{') return "";
    return read_envelope(body, at).message_text;
  } catch (const std::exception&) {
    return "";
  }
}

// Walks a kept body again to find where each record begins and ends; offsets for all of them
// would cost memory in every table.

std::vector<std::string_view> sent_records(const Table& table) {
  if (!table.holds_body()) throw std::logic_error("the table is not a complete response");
  const Document body(table.buffers().front());
  std::vector<std::string_view> sent;
  sent.reserve(static_cast<std::size_t>(table.rows()));
  const char* at = body.pass_space(body.pass_bom(body.begin()));
  if (*at == '{') at = body.begin() + std::max<std::int64_t>(read_envelope(body, at).data_begin, 0);
  if (*at != '[' || !body.pass_opening(at, ']')) return sent;
  do {
    const char* const begin = at;
    at = body.pass_value(at, 0);  // its depth was checked when it was decoded
    sent.emplace_back(begin, static_cast<std::size_t>(at - begin));
  } while (body.pass_separator(at, ']'));
  return sent;
}

}  // namespace tradingdata
