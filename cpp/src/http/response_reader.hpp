// Receives one response and applies the rules for framing, encoding and size that libcurl does not
// enforce. The head is libcurl's to parse; this asks for what it needs of it. Independent of curl.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "http/http.hpp"
#include "http/inflate.hpp"
#include "http/transfer_failure.hpp"

namespace tradingdata::detail {

// The value of a response's header by its name, in any case; of several with that name, the one at
// `index`; nothing beyond the last one.
using HeaderLookup =
    std::function<std::optional<std::string_view>(const char* name, std::size_t index)>;

class Receiver {
 public:
  // `request` may be null; else it must live until `finish`.
  void start(std::int64_t max_body, const Request* request = nullptr);

  // A line of a head, or of the trailers after a body, with its end. Only its size counts, and
  // whether it is the empty one that ends them.
  bool header_line(std::string_view line) noexcept;

  // The head that came before the body; those of interim responses do not count. Once a response,
  // before its body or at its end. This and `body` return false to stop the transfer: because of
  // `failure`, or because no more of the response is needed. None of the three throws.
  bool head(int status, const HeaderLookup& header) noexcept;
  bool body(std::string_view chunk) noexcept;

  // What is wrong with a transfer that libcurl considers successful, if anything.
  std::optional<Failure> finish();

  const std::optional<Failure>& failure() const { return failure_; }
  bool has_head() const { return response_.status != 0; }
  bool lines_ended() const { return lines_ended_; }  // the last line was an empty one
  // The status already reports a failure: anything else wrong with the response does not matter.
  bool refused() const { return has_head() && response_.status != 200; }
  // The body has all its bytes, whatever the end of the transfer was.
  bool complete() const { return content_length_ && received_ == *content_length_; }
  // Only the connection's end shows where the body ends.
  bool close_delimited() const { return has_head() && !chunked_ && !content_length_; }
  std::int64_t received() const { return received_; }
  Response& response() { return response_; }

 private:
  enum class Encoding : std::uint8_t { identity, gzip, unknown };

  template <typename Step>
  void attempt(const Step& step) noexcept;
  void read_head(const HeaderLookup& header);
  void read_framing(const HeaderLookup& header);
  void read_content_length(std::string_view value);
  void read_content_encoding(std::string_view value);
  void prepare_body();
  void read_body(std::string_view chunk);
  void fail(Failure failure);
  std::int64_t cap() const;
  std::int64_t longest_received() const;

  Response response_;
  const Request* request_ = nullptr;
  std::unique_ptr<Inflater> inflater_;  // created for the first gzip response, then kept
  std::optional<Failure> failure_;
  std::optional<std::int64_t> content_length_;
  std::string length_text_;  // of the first Content-Length
  std::int64_t max_body_ = 0;
  std::int64_t last_unpacked_ = 0;  // bytes of the last gzip body: the next one is often as long
  std::int64_t header_bytes_ = 0;
  std::int64_t received_ = 0;
  Encoding encoding_ = Encoding::identity;
  bool lines_ended_ = false;
  bool chunked_ = false;
  bool until_close_ = false;  // libcurl waits for the connection's end, whatever the length
  bool enough_ = false;
};

}  // namespace tradingdata::detail
