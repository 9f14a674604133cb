// Reads head and body as libcurl delivers them. Everything is noexcept, because an exception
// must not cross libcurl's C code.
#include "http/response_reader.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <string>
#include <utility>

#include "base/text.hpp"

namespace tradingdata::detail {

namespace {

constexpr std::int64_t largest_headers = 256 * 1024;
constexpr std::int64_t largest_error_body = 64 * 1024;
// Text columns hold 32-bit offsets into the body.
constexpr std::int64_t largest_body = INT32_MAX;
// Headers by which a gateway says that it limits requests, or wants a browser to prove itself:
// those of the RateLimit draft and its predecessors, of Cloudflare and of AWS WAF.
bool limits_requests(const HeaderLookup& header) {
  struct Sign {
    const char* name;
    std::string_view value;
  };
  constexpr Sign signs[] = {{"X-RateLimit-Remaining", "0"},     {"RateLimit-Remaining", "0"},
                            {"X-Rate-Limit-Remaining", "0"},    {"CF-Mitigated", "challenge"},
                            {"X-AMZN-WAF-Action", "challenge"}, {"X-AMZN-WAF-Action", "captcha"}};
  return std::ranges::any_of(signs, [&](const Sign& sign) {
    const std::optional<std::string_view> value = header(sign.name, 0);
    return value && same_ignoring_case(*value, sign.value);
  });
}

}  // namespace

void Receiver::start(std::int64_t max_body, const Request* request) {
  response_ = Response();
  request_ = request;
  if (inflater_) inflater_->reset();
  failure_.reset();
  content_length_.reset();
  length_text_.clear();
  max_body_ = std::min(max_body, largest_body);
  header_bytes_ = 0;
  received_ = 0;
  encoding_ = Encoding::identity;
  lines_ended_ = false;
  chunked_ = false;
  until_close_ = false;
  enough_ = false;
}

void Receiver::fail(Failure failure) {
  if (!failure_) failure_ = std::move(failure);
}

template <typename Step>
void Receiver::attempt(const Step& step) noexcept {
  try {
    step();
  } catch (const std::exception&) {
    fail(malformed("out of memory"));  // so short that it needs no memory itself
  }
}

bool Receiver::header_line(std::string_view line) noexcept {
  lines_ended_ = line == "\r\n" || line == "\n";
  header_bytes_ += static_cast<std::int64_t>(line.size());
  if (header_bytes_ <= largest_headers) return true;
  attempt([&] { fail(malformed("the response's headers are larger than 256 KiB")); });
  return false;
}

bool Receiver::head(int status, const HeaderLookup& header) noexcept {
  response_.status = status;
  attempt([&] { read_head(header); });
  return !failure_;
}

void Receiver::read_head(const HeaderLookup& header) {
  const auto text = [&](const char* name) -> std::optional<std::string> {
    const std::optional<std::string_view> value = header(name, 0);
    if (!value) return std::nullopt;
    return std::string(*value);
  };
  response_.date = text("Date");
  for (std::size_t i = 0; const auto coding = header("Content-Encoding", i); ++i) {
    read_content_encoding(*coding);
  }
  if (encoding_ == Encoding::gzip && !inflater_) inflater_ = std::make_unique<Inflater>();
  if (refused()) {
    response_.retry_after = text("Retry-After");
    response_.location = text("Location");
    response_.limits = limits_requests(header);
    return;
  }
  read_framing(header);
  if (encoding_ == Encoding::unknown) {
    fail(malformed("the response has a content encoding that was not requested (only gzip was)"));
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
      fail(malformed("the response has a transfer encoding that was not requested"));
    }
  }
  for (std::size_t i = 0; const auto length = header("Content-Length", i); ++i) {
    read_content_length(*length);
  }
  if (chunked_) content_length_.reset();
}

// A list of lengths counts as one if all are the same text (RFC 9110, section 8.6): a gateway may
// have joined the lines that another one repeated.
void Receiver::read_content_length(std::string_view value) {
  std::size_t comma = 0;
  do {
    comma = value.find(',');
    const std::string_view text = trimmed(value.substr(0, comma));
    std::int64_t length = -1;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (problem != std::errc() || end != text.data() + text.size() || length < 0) {
      return fail(malformed("the response's Content-Length is not a number of bytes"));
    }
    if (content_length_ && length_text_ != text) {
      return fail(malformed("the response has two different Content-Lengths"));
    }
    content_length_ = length;
    length_text_ = text;
    value.remove_prefix(comma == std::string_view::npos ? value.size() : comma + 1);
  } while (comma != std::string_view::npos);
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
  if (request_ != nullptr && request_->consumer) {
    response_.consumer = request_->consumer(request_->secrets());
  }
  if (encoding_ == Encoding::gzip) {
    // A sixteenth more, so that a book that grew a little needs no larger buffer.
    response_.body.reserve(std::min(last_unpacked_ + last_unpacked_ / 16, max_body_));
  } else if (content_length_) {
    if (*content_length_ > max_body_) return fail(too_large(max_body_));
    response_.body.reserve(*content_length_);
  }
}

bool Receiver::body(std::string_view chunk) noexcept {
  received_ += static_cast<std::int64_t>(chunk.size());
  attempt([&] {
    read_body(chunk);
    if (response_.consumer && !failure_) response_.consumer->advance(response_.body);
  });
  return !failure_ && !enough_ && !(until_close_ && complete());
}

std::int64_t Receiver::cap() const {
  return refused() ? std::min(max_body_, largest_error_body) : max_body_;
}

// The head of gzip data may be endless, and so may members without content. What cannot be
// compressed is a little longer as gzip.
std::int64_t Receiver::longest_received() const {
  constexpr std::int64_t room = 64 * 1024;
  return cap() + cap() / 1024 + room;
}

void Receiver::read_body(std::string_view chunk) {
  Buffer& out = response_.body;
  InflateResult result = InflateResult::good;
  if (received_ > longest_received()) {
    result = InflateResult::too_large;
  } else if (encoding_ == Encoding::unknown) {
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
  if (result == InflateResult::too_large) return fail(too_large(max_body_));
  if (result == InflateResult::not_gzip) {
    return fail(malformed("the response is declared as gzip but is not"));
  }
  fail(damaged("the response's gzip data is corrupt"));
}

std::optional<Failure> Receiver::finish() {
  if (!has_head()) fail(damaged("incomplete response: its head ends too early"));
  // libcurl ignores the length beside a transfer encoding of none.
  if (!refused() && content_length_ && received_ < *content_length_) fail(cut_body(received_));
  if (failure_ || refused() || encoding_ != Encoding::gzip) return failure_;
  if (inflater_->started() && !inflater_->ended()) {
    fail(damaged("incomplete body: the response's gzip data ends too early"));
  } else {
    last_unpacked_ = response_.body.size();
  }
  return failure_;
}

}  // namespace tradingdata::detail
