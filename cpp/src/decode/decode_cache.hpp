// What a poll keeps of the answer before, so that the same body once more costs no decode.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "decode/decode.hpp"

namespace tradingdata {

// The body as kept cannot be compared with the one that comes: personal values in it are masked.
// So a digest of it as it came is kept, keyed with random bits that never leave the process: 128
// bits, far from every chance of two bodies alike.
class LastAnswer {
 public:
  LastAnswer();
  LastAnswer(const LastAnswer&) = delete;
  LastAnswer& operator=(const LastAnswer&) = delete;

  // The table of the last answer where the body is the same, else what decode_book makes of it,
  // kept from then on. One object serves one book and one set of options. Throws as decode_book.
  TablePtr decode(const Schema& schema, Buffer body, const DecodeOptions& options);

 private:
  using Digest = std::array<std::uint64_t, 2>;

  Digest digest_of(std::string_view bytes) const;

  std::mutex mutex_;  // a worker's thread decodes what the caller's began with
  Digest key_;
  Digest digest_{};
  TablePtr table_;
};

}  // namespace tradingdata
