// gzip members through ISA-L.
#ifdef TRADINGDATA_ISAL

#include <isa-l.h>

#include <algorithm>
#include <limits>

#include "http/gzip_stream.hpp"

namespace tradingdata::detail {

struct GzipStream::State {
  inflate_state stream;
  // Kept from call to call: ISA-L's own is lost with each, so that a header that arrives in two
  // chunks would be misread.
  isal_gzip_header header;
};

GzipStream::GzipStream() : state_(std::make_unique<State>()) {
  reset();
}

GzipStream::~GzipStream() = default;

void GzipStream::reset() {
  isal_inflate_init(&state_->stream);
  state_->stream.crc_flag = ISAL_GZIP;
  isal_gzip_header_init(&state_->header);
}

GzipStream::Status GzipStream::inflate(std::string_view& in, char* out, std::size_t room,
                                       std::size_t& made) {
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
  inflate_state& stream = state_->stream;
  // ISA-L reads the input only, but has no const for it.
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<std::uint32_t>(std::min(in.size(), most));
  stream.next_out = reinterpret_cast<std::uint8_t*>(out);
  stream.avail_out = static_cast<std::uint32_t>(std::min(room, most));
  int code =
      stream.wrapper_flag != 0 ? ISAL_DECOMP_OK : isal_read_gzip_header(&stream, &state_->header);
  if (code == ISAL_DECOMP_OK) code = isal_inflate(&stream);
  in.remove_prefix(static_cast<std::size_t>(reinterpret_cast<char*>(stream.next_in) - in.data()));
  made = static_cast<std::size_t>(reinterpret_cast<char*>(stream.next_out) - out);
  if (code == ISAL_INVALID_WRAPPER || code == ISAL_UNSUPPORTED_METHOD) return Status::not_gzip;
  if (code < 0) return Status::corrupt;
  return stream.block_state == ISAL_BLOCK_FINISH ? Status::member_ended : Status::more;
}

std::string gzip_library() {
  return "isa-l/" + std::to_string(ISAL_MAJOR_VERSION) + "." + std::to_string(ISAL_MINOR_VERSION) +
         "." + std::to_string(ISAL_PATCH_VERSION);
}

}  // namespace tradingdata::detail

#endif
