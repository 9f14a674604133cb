#include "http/inflate.hpp"

#define ZLIB_CONST
#include <zlib.h>

#include <new>

namespace tradingdata::detail {

namespace {

constexpr int gzip_only =
    15 + 16;  // the largest window; zlib's code for "a gzip header or nothing"

}  // namespace

Inflater::Inflater()
    : stream_(std::make_unique<z_stream>()), scratch_(std::make_unique<char[]>(scratch_size)) {
  if (inflateInit2(stream_.get(), gzip_only) != Z_OK) throw std::bad_alloc();
}

Inflater::~Inflater() {
  inflateEnd(stream_.get());
}

void Inflater::reset() {
  inflateReset(stream_.get());
  started_ = false;
  ended_ = false;
}

InflateResult Inflater::feed(std::string_view chunk, Buffer& out, std::int64_t limit) {
  if (chunk.empty()) return InflateResult::good;
  z_stream& stream = *stream_;
  stream.next_in = reinterpret_cast<const Bytef*>(chunk.data());
  stream.avail_in = static_cast<uInt>(chunk.size());
  started_ = true;
  do {
    if (ended_) {  // a gzip file may be several members in a row
      inflateReset(&stream);
      ended_ = false;
    }
    stream.next_out = reinterpret_cast<Bytef*>(scratch_.get());
    stream.avail_out = static_cast<uInt>(scratch_size);
    const int code = inflate(&stream, Z_NO_FLUSH);
    const std::int64_t made = scratch_size - static_cast<std::int64_t>(stream.avail_out);
    if (out.size() + made > limit) return InflateResult::too_large;
    if (made > 0) out.append({scratch_.get(), static_cast<std::size_t>(made)});
    if (code == Z_STREAM_END) {
      ended_ = true;
    } else if (code == Z_BUF_ERROR) {
      break;  // no harm: it wants the next chunk
    } else if (code == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (code != Z_OK) {
      return stream.total_in < 10 && out.size() == 0 ? InflateResult::not_gzip
                                                     : InflateResult::corrupt;
    }
  } while (stream.avail_in > 0 || (!ended_ && stream.avail_out == 0));
  return InflateResult::good;
}

const char* inflate_version() {
  return zlibVersion();
}

}  // namespace tradingdata::detail
