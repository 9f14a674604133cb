// Inflates as bytes arrive, directly into the body, up to a limit that also stops decompression
// bombs. The library is ISA-L where the build found it, which is three times as fast, else zlib.
// Both check each member's CRC and length.
#include "http/inflate.hpp"

#ifdef TRADINGDATA_ISAL
#include <isa-l.h>
#else
#define ZLIB_CONST
#include <zlib.h>
#endif

#include <algorithm>
#include <limits>
#include <new>

namespace tradingdata::detail {

namespace {

enum class Status : std::uint8_t { more, member_ended, not_gzip, corrupt };

constexpr std::size_t most_at_once = std::numeric_limits<std::uint32_t>::max();

std::uint32_t capped(std::size_t size) {
  return static_cast<std::uint32_t>(std::min(size, most_at_once));
}

}  // namespace

// One gzip member at a time. `inflate` works from the front of `in`, which loses what was used, to
// `out`, where `made` bytes were written; `more` means that one of them is used up.
#ifdef TRADINGDATA_ISAL

struct Inflater::Stream {
  Stream() { reset(); }

  void reset() {
    isal_inflate_init(&state);
    state.crc_flag = ISAL_GZIP;
    isal_gzip_header_init(&header);
  }

  Status inflate(std::string_view& in, char* out, std::size_t room, std::size_t& made) {
    // ISA-L reads the input only, but has no const for it.
    state.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in.data()));
    state.avail_in = capped(in.size());
    state.next_out = reinterpret_cast<std::uint8_t*>(out);
    state.avail_out = capped(room);
    int code = state.wrapper_flag != 0 ? ISAL_DECOMP_OK : isal_read_gzip_header(&state, &header);
    if (code == ISAL_DECOMP_OK) code = isal_inflate(&state);
    in.remove_prefix(static_cast<std::size_t>(reinterpret_cast<char*>(state.next_in) - in.data()));
    made = static_cast<std::size_t>(reinterpret_cast<char*>(state.next_out) - out);
    if (code == ISAL_INVALID_WRAPPER || code == ISAL_UNSUPPORTED_METHOD) return Status::not_gzip;
    if (code < 0) return Status::corrupt;
    return state.block_state == ISAL_BLOCK_FINISH ? Status::member_ended : Status::more;
  }

  inflate_state state;
  // Kept from call to call: ISA-L's own is lost with each, so that a header that arrives in two
  // chunks would be misread.
  isal_gzip_header header;
};

std::string gzip_library() {
  return "isa-l/" + std::to_string(ISAL_MAJOR_VERSION) + "." + std::to_string(ISAL_MINOR_VERSION) +
         "." + std::to_string(ISAL_PATCH_VERSION);
}

#else

struct Inflater::Stream {
  Stream() {
    constexpr int gzip_only = 15 + 16;  // the largest window; zlib's code for "gzip or nothing"
    if (inflateInit2(&state, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { inflateEnd(&state); }

  void reset() { inflateReset(&state); }

  Status inflate(std::string_view& in, char* out, std::size_t room, std::size_t& made) {
    state.next_in = reinterpret_cast<const Bytef*>(in.data());
    state.avail_in = capped(in.size());
    state.next_out = reinterpret_cast<Bytef*>(out);
    state.avail_out = capped(room);
    const int code = ::inflate(&state, Z_NO_FLUSH);
    in.remove_prefix(
        static_cast<std::size_t>(reinterpret_cast<const char*>(state.next_in) - in.data()));
    made = static_cast<std::size_t>(reinterpret_cast<char*>(state.next_out) - out);
    switch (code) {
      case Z_OK:
      case Z_BUF_ERROR: return Status::more;
      case Z_STREAM_END: return Status::member_ended;
      case Z_MEM_ERROR: throw std::bad_alloc();
      default: break;
    }
    constexpr uLong fixed_header = 10;
    return state.total_in < fixed_header ? Status::not_gzip : Status::corrupt;
  }

  z_stream state{};
};

std::string gzip_library() {
  return std::string("zlib/") + zlibVersion();
}

#endif

namespace {

constexpr std::int64_t least_room = 64 * 1024;

// Doubles the buffer when little of it is left, up to one byte beyond the limit: enough to see that
// there is more than the limit allows.
std::int64_t make_room(Buffer& out, std::int64_t limit) {
  const std::int64_t most = limit + 1;
  if (out.capacity() - out.size() < std::min(least_room, most - out.size())) {
    out.reserve(std::min(std::max(out.capacity() * 2, out.size() + least_room), most));
  }
  return std::min(out.capacity(), most) - out.size();
}

}  // namespace

Inflater::Inflater() : stream_(std::make_unique<Stream>()) {}

Inflater::~Inflater() = default;

void Inflater::reset() {
  stream_->reset();
  started_ = false;
  ended_ = false;
  padded_ = false;
}

InflateResult Inflater::feed(std::string_view chunk, Buffer& out, std::int64_t limit) {
  if (chunk.empty()) return InflateResult::good;
  started_ = true;
  bool more = true;
  while (more) {
    if (ended_) {
      const std::size_t padding = chunk.find_first_not_of(std::string_view("\0\r\n", 3));
      padded_ = padded_ || padding != 0;
      if (padding == std::string_view::npos) return InflateResult::good;
      constexpr char first_of_gzip = '\x1f';
      if (padded_ || chunk.front() != first_of_gzip) return InflateResult::corrupt;
      stream_->reset();  // a gzip file may be several members in a row
      ended_ = false;
    }
    const std::int64_t room = make_room(out, limit);
    std::size_t made = 0;
    const Status status =
        stream_->inflate(chunk, out.data() + out.size(), static_cast<std::size_t>(room), made);
    out.extend(static_cast<std::int64_t>(made));
    if (out.size() > limit) {
      out.resize(limit);
      return InflateResult::too_large;
    }
    switch (status) {
      case Status::more: break;
      case Status::member_ended: ended_ = true; break;
      case Status::not_gzip:
        return out.size() == 0 ? InflateResult::not_gzip : InflateResult::corrupt;
      case Status::corrupt: return InflateResult::corrupt;
    }
    more = !chunk.empty() || (!ended_ && static_cast<std::int64_t>(made) == room);
  }
  return InflateResult::good;
}

}  // namespace tradingdata::detail
