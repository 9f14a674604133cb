// From the bytes of a response to a table, in one strict walk: every byte is validated, also in
// fields that nobody reads, and the columns are filled on the way. The walk may begin before the
// last byte has arrived.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/consumer.hpp"
#include "base/memory.hpp"
#include "privacy/tokens.hpp"
#include "table/schema.hpp"
#include "table/table.hpp"

namespace tradingdata {

struct DecodeOptions {
  bool strict = false;                    // a value that is lost, or missing, is an error
  bool keep_personal_data = false;        // else personal fields are masked, in the kept body too
  std::shared_ptr<TokenSearch> tokens{};  // never kept or shown; may be null
  std::string account{};                  // the label of all rows; empty: none
  bool written = false;                   // by `rows_as_json`: each record has its local fields
};

// Decodes a body while it arrives. The result does not depend on how it was cut: `finish` returns
// the table, or throws the error, that the complete body leads to.
class Decoder final : public Consumer {
 public:
  // The envelope {data, message, status} of a trade or order book, or a search response's top-level
  // array of records.
  enum class Form : std::uint8_t { book, list };

  // Small bodies are decoded at once. What a step reads is still in the processor's cache.
  static constexpr std::int64_t usual_step = 64 << 10;

  // Looks at the body each time it has grown by `step` bytes.
  Decoder(const Schema& schema, Form form, DecodeOptions options, std::int64_t step = usual_step);
  ~Decoder() override;

  // Decodes the records that are complete. Writes to the part of the body that has arrived (masks,
  // and marks over tokens); the rest may be written, and the body moved, between two calls.
  void advance(Buffer& body) noexcept override;

  // How many bytes need not be read again.
  std::int64_t passed() const { return passed_; }

  // To be called once, with the complete body, which becomes the table's. Throws Error: `decode`
  // (offset, path, `incomplete` where the body ended too early) or `service`.
  TablePtr finish(Buffer body) override;

 private:
  class Parser;

  const Schema& schema_;
  Form form_;
  DecodeOptions options_;
  std::int64_t step_;
  std::int64_t next_;  // the size of the body at the next attempt
  std::int64_t passed_ = 0;
  std::unique_ptr<Parser> parser_;
};

// Decodes a copy of a body that the caller saved.
TablePtr decode_copy(const Schema& schema, Decoder::Form form, std::string_view body,
                     const DecodeOptions& options);

// A JSON text with its personal values masked, at any depth. Throws Error (decode).
std::string masked_json(std::string_view json);

// The `message` of an error envelope, as it was sent, for responses with an HTTP status of
// failure; "" if the body is not an envelope or has no message. Never throws.
std::string service_message(std::string_view body);

// The records of a table that holds one complete response, each as it is in the kept body,
// including values that the columns could not hold. The views point into the body, so the table
// must outlive them.
std::vector<std::string_view> sent_records(const Table& table);

}  // namespace tradingdata
