// Walks a kept body again to find where each record begins and ends; offsets for all of them
// would cost memory in every table.
#include <stdexcept>

#include "decode/envelope.hpp"
#include "decode/json/json_grammar.hpp"
#include "decode/json/raw_records.hpp"

namespace tradingdata {

namespace {

using detail::Document;
using detail::Envelope;

struct Place {
  const char* at;
  int depth;  // of the values that enclose it
};

// Where the records begin, in a body that has been decoded before.
Place find_records(const Document& body) {
  const char* at = body.pass_space(body.pass_bom(body.begin()));
  if (*at != '{') return {at, 0};
  const std::int64_t data = detail::read_envelope(body, at).data_begin;
  return {data < 0 ? nullptr : body.begin() + data, 1};
}

}  // namespace

std::vector<std::string_view> sent_records(const Table& table) {
  if (!table.holds_body()) throw std::logic_error("the table is not a complete response");
  const Document body(table.buffers().front());
  std::vector<std::string_view> sent;
  sent.reserve(static_cast<std::size_t>(table.rows()));
  auto [at, depth] = find_records(body);
  if (at == nullptr || *at != '[' || !body.pass_opening(at, ']')) return sent;
  do {
    const char* const begin = at;
    at = body.pass_value(at, depth + 1);
    sent.emplace_back(begin, static_cast<std::size_t>(at - begin));
  } while (body.pass_separator(at, ']'));
  return sent;
}

}  // namespace tradingdata
