#include "tradingdata/decode.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include "grammar.hpp"
#include "record_walk.hpp"

namespace tradingdata {

namespace {

using detail::Cursor;
using detail::RecordWalk;

// What stood under a key of the envelope.
enum class Member : std::uint8_t { absent, null, text, array, other };

struct Envelope {
  Member data = Member::absent;
  Member status = Member::absent;
  std::string status_text;
  Member message = Member::absent;
  std::string message_text;
  const char* odd_element = nullptr;  // the first element of `data` that is no record
  std::int64_t odd_row = 0;
  const char* data_begin = nullptr;
};

bool says_success(std::string_view status) {
  constexpr std::string_view success = "success";
  return std::equal(status.begin(), status.end(), success.begin(), success.end(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

[[noreturn]] void refuse(const Cursor& cursor, const char* place, std::string_view problem,
                         std::string_view path) {
  try {
    cursor.fail(place, problem);
  } catch (const Error& error) {
    throw detail::at_path(error, path);
  }
}

std::string read_text(Cursor& cursor) {
  const char* const from = cursor.at + 1;
  const bool escaped = cursor.skip_string();
  std::string text(from, cursor.at - 1);
  bool damaged = false;
  if (escaped) {
    const char* const end = text.data() + text.size();
    std::string plain(text.size(), '\0');
    plain.resize(static_cast<std::size_t>(unescape(text.data(), end, plain.data(), damaged)));
    return plain;
  }
  return text;
}

Member skip_member(Cursor& cursor) {
  const char first = *cursor.at;
  cursor.skip_value(1);
  return first == 'n' ? Member::null : Member::other;
}

Member read_member_text(Cursor& cursor, std::string& text) {
  if (*cursor.at != '"') return skip_member(cursor);
  text = read_text(cursor);
  return Member::text;
}

void take_once(const Cursor& cursor, const char* key, Member member, std::string_view path) {
  if (member != Member::absent) {
    refuse(cursor, key, "the envelope has this member twice", path);
  }
}

Member read_records(Cursor& cursor, Table& table, const DecodeOptions& options,
                    std::string_view path, Envelope& envelope) {
  envelope.data_begin = cursor.at;
  if (*cursor.at != '[') return skip_member(cursor);
  RecordWalk walk(cursor, table, options, path);
  walk.read_array();
  envelope.odd_element = walk.odd_element();
  envelope.odd_row = walk.odd_row();
  return Member::array;
}

// Reads the object at the cursor; without a table, its data is passed over.
Envelope read_envelope(Cursor& cursor, Table* table, const DecodeOptions& options) {
  Envelope envelope;
  cursor.expect('{');
  cursor.skip_space();
  if (*cursor.at == '}') {
    ++cursor.at;
    return envelope;
  }
  do {
    const char* const begin = cursor.at;
    const std::string key = read_text(cursor);
    cursor.expect(':');
    cursor.skip_space();
    if (key == "data") {
      take_once(cursor, begin, envelope.data, "$.data");
      envelope.data = table == nullptr
                          ? skip_member(cursor)
                          : read_records(cursor, *table, options, "$.data", envelope);
    } else if (key == "status") {
      take_once(cursor, begin, envelope.status, "$.status");
      envelope.status = read_member_text(cursor, envelope.status_text);
    } else if (key == "message") {
      take_once(cursor, begin, envelope.message, "$.message");
      envelope.message = read_member_text(cursor, envelope.message_text);
    } else {
      cursor.skip_value(1);
    }
  } while (cursor.next('}'));
  return envelope;
}

[[noreturn]] void throw_service_error(const Envelope& envelope) {
  constexpr std::int64_t most_shown = 500;
  const std::string said = redacted_head(envelope.message_text, most_shown);
  std::string message = "the service answered with status \"" +
                        redacted_head(envelope.status_text, most_shown) + "\"";
  message += said.empty() ? " and no message" : ": " + said;
  Error error(ErrorKind::service, message);
  error.service_message = said;
  throw error;
}

std::shared_ptr<Table> begin_table(const Schema& schema, Buffer body,
                                   const DecodeOptions& options) {
  if (body.size() > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorKind::decode, "the answer is larger than 2 GiB, which no book can be");
  }
  auto table = std::make_shared<Table>(schema);
  if (body.data() == nullptr) body.reserve(0);
  table->buffers.push_back(std::move(body));
  table->holds_body = true;
  table->masked = !options.keep_personal_data;
  return table;
}

Cursor begin_walk(const Table& table) {
  Cursor cursor(table.buffers.front());
  cursor.skip_bom();
  cursor.skip_space();
  if (cursor.at == cursor.end()) {
    Error error(ErrorKind::decode, "the answer is empty");
    error.offset = 0;
    error.path = "$";
    error.incomplete = true;
    throw error;
  }
  return cursor;
}

void refuse_odd_element(const Cursor& cursor, const Envelope& envelope, std::string_view path) {
  if (envelope.odd_element == nullptr) return;
  refuse(cursor, envelope.odd_element, "an element is no record",
         std::string(path) + "[" + std::to_string(envelope.odd_row) + "]");
}

}  // namespace

std::shared_ptr<const Table> decode_book(const Schema& schema, Buffer body,
                                         const DecodeOptions& options) {
  const auto table = begin_table(schema, std::move(body), options);
  Cursor cursor = begin_walk(*table);
  const char* const begin = cursor.at;
  if (*begin != '{') {
    cursor.skip_value(0);  // malformed is worse than unexpected: say so first
    cursor.expect_end();
    refuse(cursor, begin, "it is no envelope with data, message and status", "$");
  }
  const Envelope envelope = read_envelope(cursor, table.get(), options);
  cursor.expect_end();
  if (envelope.status == Member::text && !says_success(envelope.status_text)) {
    throw_service_error(envelope);
  }
  if (envelope.status != Member::text) {
    refuse(cursor, begin, "the envelope has no status", "$.status");
  }
  if (envelope.data == Member::absent) refuse(cursor, begin, "the envelope has no data", "$.data");
  if (envelope.data == Member::other) {
    refuse(cursor, envelope.data_begin, "data is no array", "$.data");
  }
  refuse_odd_element(cursor, envelope, "$.data");
  table->message = envelope.message_text;
  return table;
}

std::shared_ptr<const Table> decode_list(const Schema& schema, Buffer body,
                                         const DecodeOptions& options) {
  const auto table = begin_table(schema, std::move(body), options);
  Cursor cursor = begin_walk(*table);
  const char* const begin = cursor.at;
  if (*begin == '{') {
    const Envelope envelope = read_envelope(cursor, nullptr, options);
    cursor.expect_end();
    const bool refused = envelope.status == Member::text && !says_success(envelope.status_text);
    if (refused || (envelope.status != Member::text && envelope.message == Member::text)) {
      throw_service_error(envelope);
    }
    refuse(cursor, begin, "it is no array of stocks", "$");
  }
  Envelope answer;
  const Member kind = read_records(cursor, *table, options, "$", answer);
  cursor.expect_end();
  if (kind == Member::other) refuse(cursor, begin, "it is no array of stocks", "$");
  refuse_odd_element(cursor, answer, "$");
  return table;
}

std::string service_message(std::string_view body) {
  try {
    const Buffer buffer(body);
    Cursor cursor(buffer);
    cursor.skip_bom();
    return read_envelope(cursor, nullptr, {}).message_text;
  } catch (const Error&) {
    return "";
  }
}

}  // namespace tradingdata
