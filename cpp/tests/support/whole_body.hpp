// Decodes a body that is there as a whole.
#pragma once

#include <utility>

#include "decode/decode.hpp"

namespace tradingdata {

inline TablePtr decode_book(const Schema& schema, Buffer body, const DecodeOptions& options) {
  return Decoder(schema, Decoder::Form::book, options).finish(std::move(body));
}

inline TablePtr decode_list(const Schema& schema, Buffer body, const DecodeOptions& options) {
  return Decoder(schema, Decoder::Form::list, options).finish(std::move(body));
}

}  // namespace tradingdata
