// gzip bodies, with the proof that libcurl does not give: that the stream reached its end and its
// checksum was right.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/buffer.hpp"

struct z_stream_s;

namespace tradingdata::detail {

// Of the zlib in use.
const char* inflate_version();

enum class InflateResult : std::uint8_t { good, too_large, not_gzip, corrupt };

class Inflater {
 public:
  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void reset();

  // Appends what `chunk` inflates to. `limit` caps the size of `out`.
  InflateResult feed(std::string_view chunk, Buffer& out, std::int64_t limit);

  bool ended() const { return ended_; }  // the last member's checksum and length were right
  bool started() const { return started_; }

 private:
  static constexpr std::int64_t scratch_size = 64 * 1024;

  std::unique_ptr<z_stream_s> stream_;
  std::unique_ptr<char[]> scratch_;
  bool started_ = false;
  bool ended_ = false;
};

}  // namespace tradingdata::detail
