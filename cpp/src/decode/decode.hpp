// From the bytes of a response to a table in one strict pass: every byte is validated, even in
// fields that nobody reads, and the columns are filled on the way.
#pragma once

#include <memory>
#include <string>

#include "base/buffer.hpp"
#include "base/token_search.hpp"
#include "table/schema.hpp"
#include "table/table.hpp"

namespace tradingdata {

struct DecodeOptions {
  bool strict = false;              // a value that is lost, or missing, is an error
  bool keep_personal_data = false;  // else personal fields are masked, in the kept body too
  std::shared_ptr<const TokenSearch> tokens{};  // never kept or shown; may be null
};

// A trade or order book: the envelope {data, message, status}. The body becomes the table's.
// Throws Error: `decode` (offset, path, `incomplete` where the body ended too early) or `service`.
TablePtr decode_book(const Schema& schema, Buffer body, const DecodeOptions& options);

// A search response: a top-level array of records. Throws as decode_book does.
TablePtr decode_list(const Schema& schema, Buffer body, const DecodeOptions& options);

// A JSON text with its personal values masked, at any depth. Throws Error (decode).
std::string masked_json(std::string_view json);

// The `message` of an error envelope, as it was sent, for responses with an HTTP status of
// failure; "" where the body is no envelope or has no message. Never throws.
std::string service_message(std::string_view body);

}  // namespace tradingdata
