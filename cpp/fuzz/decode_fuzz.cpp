// A body is JSON if, and only if, simdjson finds it to be; strict refusals are what the issues say,
// masking is done once and leaves a body's length, a prefix is incomplete, and a body that arrives
// in pieces decodes to what it does at once. What the values mean is compared with Python in
// tests/records/test_decoding.py. The differences that are meant are those of the design: numbers
// of any size, half surrogate pairs and a byte order mark cost a value at most, never the body.
#include <simdjson.h>

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "decode/json.hpp"
#include "privacy/personal.hpp"
#include "support/incremental.hpp"
#include "support/tokens.hpp"
#include "support/whole_body.hpp"
#include "table/records.hpp"

using namespace tradingdata;

namespace {

// Aborts, which libFuzzer reports as a finding, after printing what is wrong.
void require(bool right, std::string_view what) {
  if (right) return;
  std::fprintf(stderr, "DISAGREEMENT: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

using Decoded = std::shared_ptr<const Table>;

struct Outcome {
  Decoded table;
  std::optional<Error> error;
};

// What is asked of a body goes by its first value, so that a corpus of plain bodies serves all.
struct Question {
  const Schema& schema;
  bool list;

  Outcome decode(std::string_view body, const DecodeOptions& options) const {
    const auto decoder = list ? decode_list : decode_book;
    try {
      return {decoder(schema, Buffer(body), options), std::nullopt};
    } catch (const Error& error) {
      return {nullptr, error};
    }
  }
};

bool is_surrogate_escape(std::string_view text) {
  const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  return text.size() >= 6 && text[1] == 'u' && (text[2] | 0x20) == 'd' && is_hex(text[3]) &&
         text[3] >= '8' && is_hex(text[4]) && is_hex(text[5]);
}

// The body with what simdjson refuses for its value, not for its grammar, made harmless: digits
// beyond the second of a run are left out, and surrogates written as escapes become a letter.
std::string harmless(std::string_view body) {
  std::string result;
  bool quoted = false;
  int run = 0;  // of digits
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    run = !quoted && is_digit(c) ? run + 1 : 0;
    if (run > 2) continue;
    if (quoted && c == '\\' && i + 1 < body.size()) {
      const bool surrogate = is_surrogate_escape(body.substr(i));
      result += surrogate ? std::string_view("\\u0041") : body.substr(i, 2);
      i += surrogate ? 5 : 1;
      continue;
    }
    if (c == '"') quoted = !quoted;
    result += c;
  }
  return result;
}

bool is_json(simdjson::dom::parser& parser, std::string_view body) {
  const std::string text = harmless(body);
  return parser.parse(text).error() == simdjson::SUCCESS;
}

bool grammar_accepts(std::string_view body) {
  const Buffer bytes(body);
  const detail::Document document(bytes);
  try {
    const char* const at = document.pass_space(document.begin());
    document.pass_end(document.pass_value(at, 0));
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool loses(const Table& table) {
  for (const Issue& issue : table.issues()) {
    if (describe(issue.problem).lost) return true;
  }
  return false;
}

bool same_texts(const Table& a, const Table& b) {
  if (a.rows() != b.rows() || a.extras().size() != b.extras().size()) return false;
  for (int field = 0; field < a.schema().width(); ++field) {
    const bool text = a.schema().field(field).kind == Kind::text;
    for (std::int64_t row = 0; row < a.rows(); ++row) {
      if (a.valid(field, row) != b.valid(field, row)) return false;
      if (text && a.text(field, row) != b.text(field, row)) return false;
    }
  }
  return true;
}

// Masking changes personal fields alone, leaves a body of the same length, and is done once.
void check_masking(const Question& question, std::string_view body, const Table& plain) {
  const Decoded masked_table = question.decode(body, {}).table;
  require(masked_table != nullptr, "masking refuses a book");
  const std::string_view kept = masked_table->buffers().front().view();
  require(kept.size() == body.size(), "masking changes the body's length");
  const Decoded again = question.decode(kept, {}).table;
  require(again != nullptr, "a masked body does not decode");
  require(same_texts(*again, *masked_table), "a masked body decodes to another table");
  require(again->buffers().front().view() == kept, "masking twice differs from masking once");
  for (int field = 0; field < plain.schema().width(); ++field) {
    if (!plain.schema().field(field).personal()) continue;
    for (std::int64_t row = 0; row < plain.rows(); ++row) {
      if (!masked_table->valid(field, row)) continue;
      const std::string_view shown = masked_table->text(field, row);
      require(masked(shown) == shown, "personal data is shown");
    }
  }
}

void check_prefix(const Question& question, std::string_view body) {
  std::size_t hash = body.size();
  for (const char c : body) hash = hash * 31 + static_cast<unsigned char>(c);
  const std::size_t end = body.find_last_not_of(" \t\r\n");
  const std::size_t size = hash % (end == body.npos ? 1 : end + 1);
  const Outcome cut = question.decode(body.substr(0, size), {.strict = true});
  require(cut.error && cut.error->kind == ErrorKind::decode && cut.error->incomplete,
          "a truncated body is not reported");
}

void check_pieces(const Question& question, std::string_view body) {
  static const auto tokens = tokens::search_for({"access-t0ken"});
  const DecodeOptions options{.strict = body.size() % 3 == 0,
                              .keep_personal_data = body.size() % 5 == 0,
                              .tokens = body.size() % 4 == 0 ? tokens : nullptr};
  const auto form = question.list ? Decoder::Form::list : Decoder::Form::book;
  const auto cuts = incremental::every(body, 1 + body.size() % 37);
  require(incremental::in_pieces(question.schema, form, body, options, cuts) ==
              incremental::all_at_once(question.schema, form, body, options),
          "a body in pieces decodes otherwise");
}

void check(const Question& question, std::string_view body, simdjson::dom::parser& parser) {
  check_pieces(question, body);
  const DecodeOptions keep{.keep_personal_data = true};
  const Outcome outcome = question.decode(body, keep);
  const bool sound = grammar_accepts(body);
  require(sound == is_json(parser, body), "one takes for JSON what the other does not");
  if (!sound) {
    require(outcome.error && outcome.error->kind == ErrorKind::decode, "no JSON, and no error");
    require(outcome.error->offset.has_value(), "an error without a place");
    return;
  }
  require(!outcome.error || !outcome.error->incomplete, "a complete body is called incomplete");
  if (!outcome.table) return;
  const bool strict_refuses = question.decode(body, {.strict = true}).error.has_value();
  require(strict_refuses == loses(*outcome.table), "strict is not what the issues say");
  check_masking(question, body, *outcome.table);
  const char last = body[body.find_last_not_of(" \t\r\n")];
  if (last == '}' || last == ']') check_prefix(question, body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static simdjson::dom::parser parser;
  std::string_view body(reinterpret_cast<const char*>(data), size);
  while (body.starts_with("\xEF\xBB\xBF")) body.remove_prefix(3);  // simdjson 3.0 does not
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  const bool list = first == body.npos || body[first] != '{';
  check({list ? stock_schema : size % 2 == 0 ? trade_schema : order_schema, list}, body, parser);
  return 0;
}
