// Receives one response and applies the rules for headers, framing, encoding and size that libcurl
// does not enforce. Independent of curl.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "http/http.hpp"
#include "http/inflate.hpp"

namespace tradingdata::detail {

class Receiver {
 public:
  // `request` may be null; else it must live until `finish`.
  void start(std::int64_t max_body, const Request* request = nullptr);

  // Each takes what libcurl's callback received; false stops the transfer, because of `failure` or
  // because enough of an error response has arrived. Neither throws.
  bool header(std::string_view line) noexcept;
  bool body(std::string_view chunk) noexcept;

  // What is wrong with a transfer that libcurl considers successful, if anything.
  std::optional<Failure> finish();

  const std::optional<Failure>& failure() const { return failure_; }
  // The status already reports a failure: anything else wrong with the response does not matter.
  bool refused() const { return response_.status >= 200 && response_.status != 200; }
  // Only the connection's end shows where the body ends.
  bool close_delimited() const { return headers_ended_ && !chunked_ && !content_length_; }
  std::int64_t received() const { return received_; }
  Response& response() { return response_; }

 private:
  enum class Encoding : std::uint8_t { identity, gzip, unknown };

  void read_header(std::string_view line);
  void read_status(std::string_view line);
  void read_field(std::string_view name, std::string_view value);
  void read_content_length(std::string_view value);
  void read_content_encoding(std::string_view value);
  void end_headers();
  void read_body(std::string_view chunk);
  void fail(Retry retry, std::string message, const char* help = advice::none);
  std::int64_t cap() const;

  Response response_;
  const Request* request_ = nullptr;
  std::unique_ptr<Inflater> inflater_;  // created for the first gzip response, then kept
  std::optional<Failure> failure_;
  std::optional<std::int64_t> content_length_;
  std::int64_t max_body_ = 0;
  std::int64_t last_unpacked_ = 0;  // bytes of the last gzip body: the next one is often as long
  std::int64_t header_bytes_ = 0;
  std::int64_t received_ = 0;
  Encoding encoding_ = Encoding::identity;
  bool chunked_ = false;
  bool headers_ended_ = false;
  bool enough_ = false;
};

}  // namespace tradingdata::detail
