// Keeps the header line with the token in one allocation that is overwritten at the end, so that
// no copies remain in freed memory.
#include "base/secrets/secret.hpp"

#include <cstring>

#include "base/error.hpp"

namespace tradingdata {

namespace {

constexpr std::string_view prefix = "Authorization: Bearer ";
constexpr std::size_t longest = 64 * 1024;

void check(std::string_view token) {
  constexpr const char* advice = "access_token cannot be sent in a header: ";
  const auto refuse = [&](const char* why) {
    throw Error(ErrorKind::configuration, std::string(advice) + why + " (the value is not shown)");
  };
  if (token.empty()) refuse("it is empty");
  if (token.size() > longest) refuse("it is longer than 64 KiB");
  for (const char letter : token) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte == '\r' || byte == '\n') refuse("it contains a line break");
    if (byte == ' ') refuse("it contains a space");
    if (byte < 0x20 || byte == 0x7f) refuse("it contains a control character");
    if (byte > 0x7f) refuse("it contains a character outside ASCII");
  }
}

void wipe(char* data, std::size_t size) {
  volatile char* bytes = data;  // volatile: the compiler may not drop writes to dying memory
  for (std::size_t i = 0; i < size; ++i) bytes[i] = 0;
}

}  // namespace

Secret::Secret(std::string_view token) {
  check(token);
  size_ = token.size();
  line_ = std::make_unique<char[]>(prefix.size() + size_ + 1);
  std::memcpy(line_.get(), prefix.data(), prefix.size());
  std::memcpy(line_.get() + prefix.size(), token.data(), size_);
}

Secret::~Secret() {
  wipe(line_.get(), prefix.size() + size_);
}

std::string_view Secret::reveal() const {
  return {line_.get() + prefix.size(), size_};
}

}  // namespace tradingdata
