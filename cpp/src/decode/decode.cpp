#include "decode/decode.hpp"

#include <exception>
#include <utility>

#include "decode/book_checks.hpp"
#include "decode/envelope.hpp"
#include "decode/json_grammar.hpp"
#include "decode/record_parser.hpp"
#include "decode/redact.hpp"
#include "table/table_builder.hpp"

namespace tradingdata {

namespace {

using detail::Document;
using detail::Envelope;
using detail::RecordWalk;
using Member = Envelope::Member;

[[noreturn]] void refuse(const Document& body, const char* place, std::string_view problem,
                         std::string_view path) {
  throw detail::at_path(body.error(place, problem), path);
}

// The place of the first value, once it is clear that this may be JSON at all.
const char* begin_walk(const Document& body) {
  const char* const at = body.pass_space(body.pass_bom(body.begin()));
  if (at == body.end()) {
    Error error(ErrorKind::decode, "the answer is empty");
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
    body.fail(at,
              "it is a web page, as a login or a proxy sends (check base_url and the network),");
  }
  return at;
}

// The document is neither a book nor a list; if it is not JSON either, that is reported first.
[[noreturn]] void refuse_other(const Document& body, const char* at, std::string_view problem) {
  body.pass_end(body.pass_value(at, 0));
  refuse(body, at, problem, "$");
}

void read_book(const Document& body, TableBuilder& table, const DecodeOptions& options) {
  constexpr int depth = 1;  // the envelope encloses the array
  const char* const begin = begin_walk(body);
  if (*begin != '{') refuse_other(body, begin, "it is no envelope with data, message and status");
  RecordWalk records(body, table, options, "$.data", depth);
  const char* at = begin;
  Envelope envelope = detail::read_envelope(body, at, &records);
  body.pass_end(at);
  if (envelope.repeated) throw *envelope.repeated;
  if (envelope.status == Member::text && !envelope.says_success())
    throw_service_error(envelope, options.tokens.get());
  if (envelope.status != Member::text) {
    refuse(body, begin, "the envelope has no status", "$.status");
  }
  if (envelope.data == Member::absent) refuse(body, begin, "the envelope has no data", "$.data");
  if (envelope.data == Member::other) {
    refuse(body, envelope.data_begin, "data is no array", "$.data");
  }
  if (records.refusal()) throw *records.refusal();
  table.set_message(std::move(envelope.message_text));
  detail::check_book(table, options.tokens.get());
}

void read_list(const Document& body, TableBuilder& table, const DecodeOptions& options) {
  constexpr std::string_view no_list = "it is no array of stocks";
  const char* const begin = begin_walk(body);
  const char* at = begin;
  if (*begin == '{') {
    const Envelope envelope = detail::read_envelope(body, at, nullptr);
    body.pass_end(at);
    if (envelope.says_no()) throw_service_error(envelope, options.tokens.get());
    refuse(body, begin, no_list, "$");
  }
  if (*begin == 'n') return body.pass_end(body.pass_value(at, 0));  // null: no hits
  if (*begin != '[') refuse_other(body, begin, no_list);
  RecordWalk records(body, table, options, "$", 0);
  body.pass_end(records.read_array(at));
  if (records.refusal()) throw *records.refusal();
}

// Reports a service that sends the token back: its users should know.
void note_tokens(const Document& body, TableBuilder& table, const DecodeOptions& options,
                 std::int64_t count) {
  if (options.strict) refuse(body, body.begin(), "it repeats the access token (strict)", "$");
  table.issues().push_back(Issue{"$", Problem::token_sent, count, 0, ""});
}

using Read = void (*)(const Document&, TableBuilder&, const DecodeOptions&);

TablePtr decode(const Schema& schema, Buffer bytes, const DecodeOptions& options, Read read) {
  constexpr std::int64_t most_shown = 500;  // bytes of the body in an error
  if (bytes.size() > Document::greatest_size) {
    throw Error(ErrorKind::decode, "the answer is larger than 2 GiB, which no book can be");
  }
  const std::int64_t tokens = options.tokens ? options.tokens->overwrite(bytes) : 0;
  TableBuilder table(schema);
  table.hold_body(std::move(bytes));
  table.set_masked(!options.keep_personal_data);
  const Document body(table.table().buffers().front());
  try {
    read(body, table, options);
    if (tokens > 0) note_tokens(body, table, options, tokens);
  } catch (Error& error) {
    error.body = redacted_head(body.view(), most_shown, options.tokens.get());
    throw;
  }
  return std::move(table).build();
}

}  // namespace

TablePtr decode_book(const Schema& schema, Buffer body, const DecodeOptions& options) {
  return decode(schema, std::move(body), options, read_book);
}

TablePtr decode_list(const Schema& schema, Buffer body, const DecodeOptions& options) {
  return decode(schema, std::move(body), options, read_list);
}

std::string masked_json(std::string_view json) {
  Buffer bytes(json);
  const Document body(bytes);
  const char* const begin = begin_walk(body);
  const char* const end = body.pass_value(begin, 0);
  body.pass_end(end);
  detail::PanMask(body, bytes.data()).hide_in_field(false, begin, end);
  return std::string(bytes.view());
}

std::string service_message(std::string_view content) {
  try {
    const Buffer bytes(content);
    const Document body(bytes);
    const char* at = begin_walk(body);
    if (*at != '{') return "";
    return detail::read_envelope(body, at, nullptr).message_text;
  } catch (const std::exception&) {
    return "";
  }
}

}  // namespace tradingdata
