#include "grammar.hpp"

#include <bitset>
#include <cstring>

#include "simd.hpp"
#include "tradingdata/number.hpp"
#include "tradingdata/text.hpp"

namespace tradingdata::detail {

namespace {

std::string shown(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte < 0x7F) return {'\'', c, '\''};
  constexpr char hex[] = "0123456789abcdef";
  return {'b', 'y', 't', 'e', ' ', '0', 'x', hex[byte >> 4], hex[byte & 15]};
}

}  // namespace

void Cursor::fail(const char* place, std::string_view problem) const {
  const bool early = place >= end_;
  const std::int64_t offset = offset_of(early ? end_ : place);
  std::string message = "the answer is not the JSON that the service documents: ";
  message += early ? "it ends too early" : problem;
  message += " at byte " + std::to_string(offset);
  Error error(ErrorKind::decode, message);
  error.offset = offset;
  error.path = "$";
  error.incomplete = early;
  throw error;
}

Error at_path(const Error& error, std::string_view path) {
  Error placed(error.kind, error.what() + (", in " + std::string(path)));
  placed.offset = error.offset;
  placed.incomplete = error.incomplete;
  placed.path = path;
  return placed;
}

void Cursor::fail(const StringScan& scan) const {
  fail(scan.reached >= end_ ? end_ : scan.fault, scan.problem);
}

void Cursor::fail_expecting(char wanted) const {
  fail(at, "found " + shown(*at) + " where " + shown(wanted) + " belongs");
}

void Cursor::fail_at_separator(char close) const {
  fail(at, "found " + shown(*at) + " where ',' or " + shown(close) + " belongs");
}

void Cursor::skip_spaces() {
  while (is_space()) {
    ++at;
#ifdef TRADINGDATA_SSE2
    // Indented text has long runs of blanks.
    const __m128i blank = _mm_set1_epi8(' ');
    for (;;) {
      const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      const int other = ~_mm_movemask_epi8(_mm_cmpeq_epi8(block, blank)) & 0xFFFF;
      if (other != 0) {
        at += std::countr_zero(static_cast<unsigned>(other));
        break;
      }
      at += 16;
    }
#endif
  }
}

void Cursor::skip_bom() {
  if (end_ - at >= 3 && std::memcmp(at, "\xEF\xBB\xBF", 3) == 0) at += 3;
}

void Cursor::skip_literal(std::string_view literal) {
  for (std::size_t i = 0; i < literal.size(); ++i) {
    if (at[i] != literal[i]) fail(at + i, "found no JSON value");
  }
  at += literal.size();
}

bool Cursor::skip_string() {
  if (*at != '"') fail_expecting('"');
  const StringScan scan = scan_string(at + 1);
  if (scan.end == nullptr) fail(scan);
  at = scan.end + 1;
  return scan.escaped;
}

void Cursor::skip_number() {
  const NumberScan scan = scan_number(at);
  if (scan.end == nullptr) fail(scan.fault, "found no valid number");
  at = scan.end;
}

void Cursor::skip_value(int depth) {
  std::bitset<greatest_depth> objects;  // of the brackets that are open, which are braces
  const int outer = depth;
  const auto key = [this] {
    skip_space();
    skip_string();
    expect(':');
  };
  for (;;) {
    skip_space();
    bool opened = false;
    switch (*at) {
      case '{':
      case '[': {
        const bool object = *at == '{';
        if (depth >= greatest_depth) fail(at, "it is nested too deep");
        objects[static_cast<std::size_t>(depth++)] = object;
        ++at;
        skip_space();
        if (*at == (object ? '}' : ']')) break;  // empty: closed below
        if (object) key();
        opened = true;
        break;
      }
      case '"': skip_string(); break;
      case 't': skip_literal("true"); break;
      case 'f': skip_literal("false"); break;
      case 'n': skip_literal("null"); break;
      default:
        if (*at != '-' && (*at < '0' || *at > '9')) {
          fail(at, "found " + shown(*at) + " where a value belongs");
        }
        skip_number();
    }
    if (opened) continue;
    // A value has ended, or an empty bracket stands before its end: close what ends here.
    for (;;) {
      if (depth == outer) return;
      const bool object = objects[static_cast<std::size_t>(depth - 1)];
      if (next(object ? '}' : ']')) {
        if (object) key();
        break;
      }
      --depth;
    }
  }
}

void Cursor::expect_end() {
  skip_space();
  if (at < end_) fail(at, "found " + shown(*at) + " behind the document's end");
  if (at > end_) fail(end_, "it ends too early");
}

}  // namespace tradingdata::detail
