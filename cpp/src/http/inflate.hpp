// gzip bodies, with the proof that libcurl does not give: that the stream reached its end and its
// checksum was right.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/memory/buffer.hpp"
#include "http/gzip_stream.hpp"

namespace tradingdata::detail {

enum class InflateResult : std::uint8_t { good, too_large, not_gzip, corrupt };

class Inflater {
 public:
  void reset();

  // Appends what `chunk` inflates to, written straight into `out`. `limit` caps the size of `out`.
  InflateResult feed(std::string_view chunk, Buffer& out, std::int64_t limit);

  bool ended() const { return ended_; }  // the last member's checksum and length were right
  bool started() const { return started_; }

 private:
  GzipStream stream_;
  bool started_ = false;
  bool ended_ = false;
};

}  // namespace tradingdata::detail
