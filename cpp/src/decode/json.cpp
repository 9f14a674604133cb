// The strict JSON grammar. Values that nobody reads are validated too, because a body with one
// error in it is not trusted.
#include "decode/json.hpp"

#include <bitset>
#include <cstring>

namespace tradingdata::detail {

namespace {

std::string quoted(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte < 0x7F) return {'\'', c, '\''};
  constexpr char hex[] = "0123456789abcdef";
  return {'b', 'y', 't', 'e', ' ', '0', 'x', hex[byte >> 4], hex[byte & 15]};
}

}  // namespace

Error Document::error(const char* place, std::string_view problem) const {
  const bool early = place >= end_;
  const std::int64_t offset = offset_of(early ? end_ : place);
  std::string message = "the response is not the JSON that the service documents: ";
  message += early ? "it ends too early" : problem;
  message += " at byte " + std::to_string(offset);
  Error error(ErrorKind::decode, message);
  error.offset = offset;
  error.path = "$";
  error.incomplete = early;
  return error;
}

Error at_path(const Error& error, std::string_view path) {
  Error placed = error.reworded(error.what() + (", in " + std::string(path)));
  placed.path = path;
  return placed;
}

void Document::fail(const char* place, std::string_view problem) const {
  throw error(place, problem);
}

void Document::fail_expecting(const char* at, char wanted) const {
  fail(at, "found " + quoted(*at) + " where " + quoted(wanted) + " was expected");
}

void Document::fail_at_separator(const char* at, char close) const {
  fail(at, "found " + quoted(*at) + " where ',' or " + quoted(close) + " was expected");
}

const char* Document::pass_spaces(const char* at) {
  while (is_space(*at)) {
    ++at;
    if (*at != ' ') continue;
#ifdef TRADINGDATA_BLOCKS
    // Indented text has long runs of blanks.
    for (;;) {
      const std::uint32_t others = ~mask_of(load_block(at) == ' ') & 0xFFFF;
      if (others != 0) {
        at += std::countr_zero(others);
        break;
      }
      at += 16;
    }
#endif
  }
  return at;
}

const char* Document::pass_bom(const char* at) const {
  return end_ - at >= 3 && std::memcmp(at, "\xEF\xBB\xBF", 3) == 0 ? at + 3 : at;
}

StringScan Document::scan_text(const char* quote) const {
  if (*quote != '"') fail_expecting(quote, '"');
  const StringScan scan = scan_string(quote + 1);
  if (scan.end == nullptr) fail(scan.reached >= end_ ? end_ : scan.fault, scan.problem);
  return scan;
}

const char* Document::pass_long_number(const char* at) const {
  const NumberScan scan = scan_number(at);
  if (scan.end == nullptr) fail(scan.fault, "found no valid number");
  if (scan.end == end_ && !complete_) fail(end_, "more digits may follow");
  return scan.end;
}

// Passes what is neither text nor a number, and encloses nothing.
const char* Document::pass_word(const char* at) const {
  const std::string_view word = *at == 't'   ? "true"
                                : *at == 'f' ? "false"
                                : *at == 'n' ? "null"
                                             : "";
  if (word.empty()) fail(at, "found " + quoted(*at) + " where a value was expected");
  for (const char letter : word) {
    if (*at != letter) fail(at, "found no JSON value");
    ++at;
  }
  return at;
}

const char* Document::pass_scalar(const char* at) const {
  if (*at == '"') return pass_text(at).end + 1;
  if (*at != '-' && !is_digit(*at)) return pass_word(at);
  return pass_number(at);
}

// Passes a key and its colon.
const char* Document::pass_key(const char* at) const {
  return pass_mark(pass_text(at).end + 1, ':');
}

const char* Document::pass_nested(const char* at, int depth) const {
  std::bitset<greatest_depth> braces;  // which of the open brackets are braces
  const int outer = depth;
  const auto innermost_is_object = [&] { return braces[static_cast<std::size_t>(depth - 1)]; };
  for (;;) {
    bool ended = true;  // a value did
    if (*at == '{' || *at == '[') {
      const bool object = *at == '{';
      if (depth >= greatest_depth) fail(at, "it is nested too deeply");
      braces[static_cast<std::size_t>(depth++)] = object;
      ended = !pass_opening(at, object ? '}' : ']');
      if (ended) --depth;
      if (!ended && object) at = pass_key(at);
    } else {
      at = pass_scalar(at);
    }
    while (ended) {
      if (depth == outer) return at;
      if (pass_separator(at, innermost_is_object() ? '}' : ']')) {
        if (innermost_is_object()) at = pass_key(at);
        ended = false;
      } else {
        --depth;
      }
    }
  }
}

void Document::pass_end(const char* at) const {
  at = pass_space(at);
  if (at < end_) fail(at, "found " + quoted(*at) + " after the end of the document");
}

// Reads one value with its type; text is unescaped into a scratch string.

Literal read_literal(const Document& body, const char* at, int depth, std::string& scratch) {
  Literal literal{.type = Literal::Type::other, .from = at, .to = at};
  if (*at == '"') {
    const StringScan scan = body.scan_text(at);
    const auto size = static_cast<std::size_t>(scan.end - (at + 1));
    literal.type = Literal::Type::text;
    literal.to = scan.end + 1;
    literal.text = {at + 1, size};
    literal.escaped = scan.escaped;
    if (scan.escaped) {
      scratch.resize(size);
      const auto left = unescape(at + 1, scan.end, scratch.data(), literal.damaged);
      literal.text = std::string_view(scratch).substr(0, static_cast<std::size_t>(left));
    }
  } else {
    literal.to = body.pass_value(at, depth);
    if (*at == '-' || is_digit(*at)) {
      literal.type = Literal::Type::number;
      literal.text = literal.raw();
    } else if (*at == 'n') {
      literal.type = Literal::Type::null;
    }
  }
  return literal;
}

}  // namespace tradingdata::detail
