// Reads one value with its type; text is unescaped into a scratch string.
#include "decode/json/json_value.hpp"

#include "base/text/number.hpp"

namespace tradingdata::detail {

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
