// Bodies compressed with gzip.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

namespace tradingdata::bodies {

// `name` and `comment` go into the header, which then has a checksum of its own too.
inline std::string gzipped(std::string_view text, int level = 9, bool long_header = false) {
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  gz_header header{};
  std::string name = "book.json";
  std::string comment = "of today";
  std::string extra = "extra";
  if (long_header) {
    header.name = reinterpret_cast<Bytef*>(name.data());
    header.comment = reinterpret_cast<Bytef*>(comment.data());
    header.extra = reinterpret_cast<Bytef*>(extra.data());
    header.extra_len = static_cast<uInt>(extra.size());
    header.hcrc = 1;
    deflateSetHeader(&stream, &header);
  }
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())) + 100, '\0');
  std::string in(text);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace tradingdata::bodies
