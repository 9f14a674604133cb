// gzip bodies, with the proof that libcurl does not give: that the stream reached its end and its
// checksum was right.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/memory.hpp"

namespace tradingdata::detail {

enum class InflateResult : std::uint8_t { good, too_large, not_gzip, corrupt };

class Inflater {
 public:
  Inflater();  // throws std::bad_alloc
  ~Inflater();

  void reset();

  // Appends what `chunk` inflates to, written straight into `out`. `limit` caps the size of `out`.
  // Zeros and line ends after the last member are padding, as gzip's own program has it.
  InflateResult feed(std::string_view chunk, Buffer& out, std::int64_t limit);

  bool ended() const { return ended_; }  // the last member's checksum and length were right
  bool started() const { return started_; }

 private:
  struct Stream;

  std::unique_ptr<Stream> stream_;
  bool started_ = false;
  bool ended_ = false;
  bool padded_ = false;
};

// Name and version of the library, e.g. "isa-l/2.30.0" or "zlib/1.2.13".
std::string gzip_library();

}  // namespace tradingdata::detail
