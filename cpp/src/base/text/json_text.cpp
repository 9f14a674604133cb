// Copies the plain stretches of a text, and escapes what is between them.
#include "base/text/json_text.hpp"

namespace tradingdata {

namespace {

void put_escaped(std::string& out, char c) {
  out += '\\';
  if (c == '"' || c == '\\') {
    out += c;
    return;
  }
  constexpr char hex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "u00";
  out += hex[byte >> 4];
  out += hex[byte & 15];
}

}  // namespace

void put_json_text(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;  // where the characters begin that go out as they are
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20) continue;
    out += text.substr(plain, i - plain);
    put_escaped(out, c);
    plain = i + 1;
  }
  out += text.substr(plain);
  out += '"';
}

}  // namespace tradingdata
