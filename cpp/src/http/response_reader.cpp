// Reads headers and body as libcurl delivers them. Everything is noexcept, because an exception
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
  chunked_ = false;
  headers_ended_ = false;
  enough_ = false;
}

void Receiver::fail(Retry retry, std::string message, const char* help) {
  if (failure_) return;
  failure_ = Failure{ErrorKind::transport, retry, std::move(message), help, false, received_};
}

bool Receiver::header(std::string_view line) noexcept {
  try {
    if (headers_ended_) return true;  // trailers: of no use here
    header_bytes_ += static_cast<std::int64_t>(line.size());
    if (header_bytes_ > largest_headers) {
      fail(Retry::never, "the response's headers are larger than 256 KiB");
    } else {
      read_header(line);
    }
  } catch (const std::exception&) {
    fail(Retry::never, out_of_memory);
  }
  return !failure_;
}

void Receiver::read_header(std::string_view line) {
  if (line.starts_with("HTTP/")) {  // a new head: an interim response came before it
    response_ = Response();
    content_length_.reset();
    encoding_ = Encoding::identity;
    chunked_ = false;
    return read_status(line);
  }
  const std::string_view content = trimmed(line);
  if (content.empty()) {
    if (response_.status >= 200) end_headers();
    return;
  }
  const std::size_t colon = content.find(':');
  if (colon == std::string_view::npos) return;
  read_field(trimmed(content.substr(0, colon)), trimmed(content.substr(colon + 1)));
}

// libcurl accepts any number of blanks before the status code.
void Receiver::read_status(std::string_view line) {
  const std::string_view code = trimmed(line.substr(std::min(line.find(' '), line.size())));
  std::from_chars(code.data(), code.data() + code.size(), response_.status);
  if (response_.status < 100) {
    fail(Retry::never, "the server sent an invalid HTTP status line", advice::base_url);
  }
}

void Receiver::read_field(std::string_view name, std::string_view value) {
  const auto is = [name](std::string_view other) { return same_ignoring_case(name, other); };
  if (is("content-length")) {
    read_content_length(value);
  } else if (is("content-encoding")) {
    read_content_encoding(value);
  } else if (is("transfer-encoding")) {
    if (same_ignoring_case(value, "chunked")) {
      chunked_ = true;
    } else if (!same_ignoring_case(value, "identity")) {
      fail(Retry::never, "the response has a transfer encoding that was not requested");
    }
  } else if (is("retry-after")) {
    response_.retry_after = value;
  } else if (is("date")) {
    response_.date = value;
  } else if (is("location")) {
    response_.location = value;
  }
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
  if (coding == "identity" || coding.empty()) return;
  const bool gzip = coding == "gzip" || coding == "x-gzip";
  // Two codings on top of each other were not requested either.
  encoding_ = gzip && encoding_ == Encoding::identity ? Encoding::gzip : Encoding::unknown;
}

void Receiver::end_headers() {
  headers_ended_ = true;
  if (chunked_) content_length_.reset();
  if (encoding_ == Encoding::unknown && !refused()) {
    fail(Retry::never,
         "the response has a content encoding that was not requested (only gzip was)");
  } else if (encoding_ == Encoding::gzip && !inflater_) {
    inflater_ = std::make_unique<Inflater>();
  }
  if (refused()) return;
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
  return !failure_ && !enough_;
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
  if (failure_ || refused() || encoding_ != Encoding::gzip) return failure_;
  if (inflater_->started() && !inflater_->ended()) {
    fail(Retry::always, "incomplete body: the response's gzip data ends too early");
  } else {
    last_unpacked_ = response_.body.size();
  }
  return failure_;
}

}  // namespace tradingdata::detail
