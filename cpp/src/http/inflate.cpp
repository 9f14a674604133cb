// Inflates as bytes arrive, directly into the body, up to a limit that also stops decompression
// bombs.
#include "http/inflate.hpp"

#include <algorithm>

namespace tradingdata::detail {

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

void Inflater::reset() {
  stream_.reset();
  started_ = false;
  ended_ = false;
}

InflateResult Inflater::feed(std::string_view chunk, Buffer& out, std::int64_t limit) {
  if (chunk.empty()) return InflateResult::good;
  started_ = true;
  bool more = true;
  while (more) {
    if (ended_) {  // a gzip file may be several members in a row
      stream_.reset();
      ended_ = false;
    }
    const std::int64_t room = make_room(out, limit);
    std::size_t made = 0;
    const GzipStream::Status status =
        stream_.inflate(chunk, out.data() + out.size(), static_cast<std::size_t>(room), made);
    out.extend(static_cast<std::int64_t>(made));
    if (out.size() > limit) {
      out.resize(limit);
      return InflateResult::too_large;
    }
    switch (status) {
      case GzipStream::Status::more: break;
      case GzipStream::Status::member_ended: ended_ = true; break;
      case GzipStream::Status::not_gzip:
        return out.size() == 0 ? InflateResult::not_gzip : InflateResult::corrupt;
      case GzipStream::Status::corrupt: return InflateResult::corrupt;
    }
    more = !chunk.empty() || (!ended_ && static_cast<std::int64_t>(made) == room);
  }
  return InflateResult::good;
}

}  // namespace tradingdata::detail
