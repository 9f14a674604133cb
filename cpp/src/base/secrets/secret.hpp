// The access token: held in one place, overwritten when it is destroyed, never shown.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

namespace tradingdata {

class Secret {
 public:
  // Throws Error (configuration), which does not hold the value, for anything that cannot be sent
  // in a header: empty, longer than 64 KiB, or a byte other than printable ASCII.
  explicit Secret(std::string_view token);
  ~Secret();
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;

  std::string_view reveal() const;                    // for the wire and for comparing only
  const char* header() const { return line_.get(); }  // "Authorization: Bearer <token>"

 private:
  std::unique_ptr<char[]> line_;
  std::size_t size_ = 0;
};

std::ostream& operator<<(std::ostream&, const Secret&) = delete;

}  // namespace tradingdata
