// Reads head and body as libcurl delivers them. Everything is noexcept, because an exception
// must not cross libcurl's C code.
#include "http/response_reader.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "http/transfer_failure.hpp"

namespace tradingdata::detail {

namespace {

constexpr std::int64_t largest_headers = 256 * 1024;
constexpr std::int64_t largest_error_body = 64 * 1024;
// Text columns hold 32-bit offsets into the body.
constexpr std::int64_t largest_body = INT32_MAX;
// So short that the message itself needs no memory.
constexpr const char* out_of_memory = "out of memory";

}  // namespace

void Receiver::start(std::int64_t max_body, const Request* request) {
  response_ = Response();
  request_ = request;
  if (inflater_) inflater_->reset();
  failure_.reset();
  content_length_.reset();
  max_body_ = std::min(max_body, largest_body);
  header_bytes_ = 0;
  received_ = 0;
  encoding_ = Encoding::identity;
  lines_ended_ = false;
  chunked_ = false;
  until_close_ = false;
  enough_ = false;
}

void Receiver::fail(Retry retry, std::string message, const char* help) {
  if (failure_) return;
  failure_ = Failure{ErrorKind::transport, retry, std::move(message), help, false, received_};
}

bool Receiver::header_line(std::string_view line) noexcept {
  lines_ended_ = line == "\r\n" || line == "\n";
  header_bytes_ += static_cast<std::int64_t>(line.size());
  if (header_bytes_ <= largest_headers) return true;
  try {
    fail(Retry::never, "the response's headers are larger than 256 KiB");
  } catch (const std::exception&) {
    fail(Retry::never, out_of_memory);
  }
  return false;
}

bool Receiver::head(int status, const HeaderLookup& header) noexcept {
  try {
    response_.status = status;
    read_head(header);
  } catch (const std::exception&) {
    fail(Retry::never, out_of_memory);
  }
  return !failure_;
}

void Receiver::read_head(const HeaderLookup& header) {
  const auto text = [&](const char* name) -> std::optional<std::string> {
    const std::optional<std::string_view> value = header(name, 0);
    if (!value) return std::nullopt;
    return std::string(*value);
  };
  response_.retry_after = text("Retry-After");
  response_.date = text("Date");
  response_.location = text("Location");
  for (std::size_t i = 0; const auto coding = header("Content-Encoding", i); ++i) {
    read_content_encoding(*coding);
  }
  if (encoding_ == Encoding::gzip && !inflater_) inflater_ = std::make_unique<Inflater>();
  if (refused()) return;
  read_framing(header);
  if (encoding_ == Encoding::unknown) {
    fail(Retry::never,
         "the response has a content encoding that was not requested (only gzip was)");
  }
  if (!failure_) prepare_body();
}

void Receiver::read_framing(const HeaderLookup& header) {
  for (std::size_t i = 0; const auto coding = header("Transfer-Encoding", i); ++i) {
    if (same_ignoring_case(*coding, "chunked")) {
      chunked_ = true;
    } else if (same_ignoring_case(*coding, "identity")) {
      until_close_ = true;
    } else {
      fail(Retry::never, "the response has a transfer encoding that was not requested");
    }
  }
  for (std::size_t i = 0; const auto length = header("Content-Length", i); ++i) {
    read_content_length(*length);
  }
  if (chunked_) content_length_.reset();
}

void Receiver::read_content_length(std::string_view value) {
  std::int64_t length = -1;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), length);
  if (problem != std::errc() || end != value.data() + value.size() || length < 0) {
    fail(Retry::never, "the response's Content-Length is not a number of bytes");
  } else if (content_length_ && *content_length_ != length) {
    fail(Retry::never, "the response has two different Content-Lengths");
  }
  content_length_ = length;
}

void Receiver::read_content_encoding(std::string_view value) {
  const std::string coding = lower_case(value);
  // Neither of the last three is a coding, but services send them.
  for (const char* plain : {"identity", "", "none", "utf-8", "utf8"}) {
    if (coding == plain) return;
  }
  const bool gzip = coding == "gzip" || coding == "x-gzip";
  // Two codings on top of each other were not requested either.
  encoding_ = gzip && encoding_ == Encoding::identity ? Encoding::gzip : Encoding::unknown;
}

void Receiver::prepare_body() {
  if (request_ != nullptr && request_->reader) {
    response_.reader = request_->reader(request_->secrets());
  }
  if (encoding_ == Encoding::gzip) {
    // A sixteenth more, so that a book that grew a little needs no larger buffer.
    response_.body.reserve(std::min(last_unpacked_ + last_unpacked_ / 16, max_body_));
  } else if (content_length_) {
    if (*content_length_ > max_body_)
      return fail(Retry::never, too_large(max_body_), advice::max_body);
    response_.body.reserve(*content_length_);
  }
}

bool Receiver::body(std::string_view chunk) noexcept {
  try {
    received_ += static_cast<std::int64_t>(chunk.size());
    read_body(chunk);
    if (response_.reader && !failure_) response_.reader->grew(response_.body);
  } catch (const std::exception&) {
    fail(Retry::never, out_of_memory);
  }
  return !failure_ && !enough_ && !(until_close_ && complete());
}

std::int64_t Receiver::cap() const {
  return refused() ? std::min(max_body_, largest_error_body) : max_body_;
}

void Receiver::read_body(std::string_view chunk) {
  Buffer& out = response_.body;
  InflateResult result = InflateResult::good;
  if (encoding_ == Encoding::unknown) {
    enough_ = received_ > largest_error_body;
  } else if (encoding_ == Encoding::gzip) {
    result = inflater_->feed(chunk, out, cap());
  } else if (out.size() + static_cast<std::int64_t>(chunk.size()) > cap()) {
    result = InflateResult::too_large;
    if (refused()) out.append(chunk.substr(0, static_cast<std::size_t>(cap() - out.size())));
  } else {
    out.append(chunk);
  }
  if (result == InflateResult::good) return;
  enough_ = true;
  if (refused()) return;
  if (result == InflateResult::too_large)
    return fail(Retry::never, too_large(max_body_), advice::max_body);
  if (result == InflateResult::not_gzip) {
    fail(Retry::never, "the response is declared as gzip but is not");
  } else {
    fail(Retry::always, "the response's gzip data is corrupt");
  }
}

std::optional<Failure> Receiver::finish() {
  if (!has_head()) fail(Retry::always, "incomplete response: its head ends too early");
  if (failure_ || refused() || encoding_ != Encoding::gzip) return failure_;
  if (inflater_->started() && !inflater_->ended()) {
    fail(Retry::always, "incomplete body: the response's gzip data ends too early");
  } else {
    last_unpacked_ = response_.body.size();
  }
  return failure_;
}

}  // namespace tradingdata::detail
