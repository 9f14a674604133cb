// A body that arrives in pieces decodes to what it decodes to at once: the same table, issues and
// kept body, or the same error. Each body is cut at every place, and once into pieces of a few
// bytes.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "require.hpp"
#include "support/incremental.hpp"
#include "support/tokens.hpp"
#include "table/records.hpp"

using namespace tradingdata;
using oracle::require;

namespace {

void check(const Schema& schema, Decoder::Form form, std::string_view body,
           const DecodeOptions& options) {
  const std::string expected = incremental::all_at_once(schema, form, body, options);
  for (std::size_t cut = 0; cut <= body.size(); ++cut) {
    require(incremental::in_pieces(schema, form, body, options, {cut}) == expected,
            "a body in two pieces decodes otherwise");
  }
  const std::size_t piece = 1 + body.size() % 5;
  require(incremental::in_pieces(schema, form, body, options, incremental::every(body, piece)) ==
              expected,
          "a body in many pieces decodes otherwise");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto tokens = tokens::search_for({"access-t0ken"});
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const std::size_t first = body.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool list = first != body.npos && body[first] == '[';
  const DecodeOptions options{.strict = size % 3 == 0,
                              .keep_personal_data = size % 5 == 0,
                              .tokens = size % 4 == 0 ? tokens : nullptr};
  check(list ? stock_schema : trade_schema, list ? Decoder::Form::list : Decoder::Form::book, body,
        options);
  return 0;
}
