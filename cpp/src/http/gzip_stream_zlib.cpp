// gzip members through zlib.
#ifndef TRADINGDATA_ISAL

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "http/gzip_stream.hpp"

namespace tradingdata::detail {

struct GzipStream::State {
  z_stream stream{};
};

GzipStream::GzipStream() : state_(std::make_unique<State>()) {
  constexpr int gzip_only = 15 + 16;  // the largest window; zlib's code for "gzip or nothing"
  if (inflateInit2(&state_->stream, gzip_only) != Z_OK) throw std::bad_alloc();
}

GzipStream::~GzipStream() {
  inflateEnd(&state_->stream);
}

void GzipStream::reset() {
  inflateReset(&state_->stream);
}

GzipStream::Status GzipStream::inflate(std::string_view& in, char* out, std::size_t room,
                                       std::size_t& made) {
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  z_stream& stream = state_->stream;
  stream.next_in = reinterpret_cast<const Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(std::min(in.size(), most));
  stream.next_out = reinterpret_cast<Bytef*>(out);
  stream.avail_out = static_cast<uInt>(std::min(room, most));
  const int code = ::inflate(&stream, Z_NO_FLUSH);
  in.remove_prefix(
      static_cast<std::size_t>(reinterpret_cast<const char*>(stream.next_in) - in.data()));
  made = static_cast<std::size_t>(reinterpret_cast<char*>(stream.next_out) - out);
  switch (code) {
    case Z_OK:
    case Z_BUF_ERROR: return Status::more;
    case Z_STREAM_END: return Status::member_ended;
    case Z_MEM_ERROR: throw std::bad_alloc();
    default: break;
  }
  constexpr uLong fixed_header = 10;
  return stream.total_in < fixed_header ? Status::not_gzip : Status::corrupt;
}

std::string gzip_library() {
  return std::string("zlib/") + zlibVersion();
}

}  // namespace tradingdata::detail

#endif
