// One gzip member at a time, through the inflate library of the build: ISA-L where it was found,
// which is three times as fast, else zlib. Both check the member's CRC and length.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tradingdata::detail {

class GzipStream {
 public:
  enum class Status { more, member_ended, not_gzip, corrupt };

  GzipStream();  // throws std::bad_alloc
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  void reset();  // a new member begins

  // Inflates from the front of `in`, which loses what was used, to `out`, where `made` bytes were
  // written. `more` means that one of them is used up. Throws std::bad_alloc.
  Status inflate(std::string_view& in, char* out, std::size_t room, std::size_t& made);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Name and version of the library, e.g. "isa-l/2.30.0" or "zlib/1.2.13".
std::string gzip_library();

}  // namespace tradingdata::detail
