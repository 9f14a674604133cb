// The file of root certificates that a transport trusts, which may be replaced at any time:
// companies rotate the authority of their proxy while programs run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace tradingdata::detail {

class Roots {
 public:
  // Reads nothing yet. Without a file there is nothing to look at.
  explicit Roots(std::string file) : file_(std::move(file)) {}

  // Looks whether the file was replaced since the last call.
  void look();

  // The content as PEM, where the file is in a form that libcurl cannot read itself: DER or UTF-16,
  // as Windows exports certificates, or UTF-8 with a byte order mark.
  const std::string& pem() const { return pem_; }
  int generation() const { return generation_; }  // of the file, from 1; 0 before the first look

 private:
  // Nothing where the file cannot be read: libcurl says why.
  using Stamp = std::optional<std::pair<std::filesystem::file_time_type, std::uintmax_t>>;

  std::string file_;
  std::string pem_;
  Stamp stamp_;
  int generation_ = 0;
};

}  // namespace tradingdata::detail
