// Notices a replaced file by its time and size, and converts what libcurl cannot read.
#include "http/roots.hpp"

#include <cstddef>
#include <fstream>
#include <ios>
#include <iterator>
#include <string_view>
#include <system_error>

namespace tradingdata::detail {

namespace {

std::string pem_of_der(std::string_view der) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t group = 3;
  constexpr std::size_t groups_a_line = 16;
  std::string pem = "-----BEGIN CERTIFICATE-----";
  for (std::size_t at = 0; at < der.size(); at += group) {
    if (at % (group * groups_a_line) == 0) pem += '\n';
    const std::string_view bytes = der.substr(at, group);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < group; ++i) {
      bits = bits << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0);
    }
    for (std::size_t i = 0; i <= group; ++i) {
      pem += i <= bytes.size() ? digits[bits >> (18 - 6 * i) & 0x3F] : '=';
    }
  }
  return pem + "\n-----END CERTIFICATE-----\n";
}

// PEM is ASCII; what else the text has are remarks.
std::string ascii_of_utf_16(std::string_view text, bool big_endian) {
  std::string ascii;
  for (std::size_t at = 2; at + 1 < text.size(); at += 2) {
    const char low = text[at + (big_endian ? 1 : 0)];
    const char high = text[at + (big_endian ? 0 : 1)];
    ascii += high == 0 && static_cast<unsigned char>(low) < 0x80 ? low : '?';
  }
  return ascii;
}

// "" for a file that libcurl can read, if anybody can.
std::string converted(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(3, '\0');
  stream.read(text.data(), 3);
  const auto has = [&](std::string_view start) { return text.starts_with(start); };
  if (!has("\xFF\xFE") && !has("\xFE\xFF") && !has("\xEF\xBB\xBF") && !has("\x30")) return "";
  text.append(std::istreambuf_iterator<char>(stream), {});
  if (has("\x30")) return pem_of_der(text);  // DER begins with an ASN.1 sequence
  if (has("\xEF")) return text.substr(3);
  return ascii_of_utf_16(text, has("\xFE"));
}

}  // namespace

void Roots::look() {
  if (file_.empty()) return;
  std::error_code unreadable;
  const auto time = std::filesystem::last_write_time(file_, unreadable);
  const auto size = unreadable ? 0 : std::filesystem::file_size(file_, unreadable);
  const Stamp stamp = unreadable ? Stamp() : Stamp({time, size});
  if (generation_ > 0 && stamp == stamp_) return;
  stamp_ = stamp;
  pem_ = stamp ? converted(file_) : "";
  ++generation_;
}

}  // namespace tradingdata::detail
