// The learned order of keys: what is no repetition of it, and what is.
#include <doctest/doctest.h>

#include "support/bodies.hpp"
#include "support/decoding.hpp"

using namespace tradingdata;
using namespace tradingdata::decoding;

namespace {

constexpr bodies::Layout layouts[] = {
    bodies::compact,
    bodies::spaced,
    bodies::indented,
    {"\r\n\t", "\r\n\t\t", "\t", "\r\n\t"},
    {"", "", "          ", ""},
    {"\n", "                                                                        ", " ", "\n"},
};

}  // namespace

TEST_CASE("a run of expected keys that begins again is seen") {
  // The second record goes through the learned order, and then through a part of it once more.
  auto records = bodies::records(trade_schema, 2);
  auto& record = records[1];
  const auto part = std::vector(record.begin() + 3, record.begin() + 6);
  record.insert(record.end(), part.begin(), part.end());
  CHECK(book_failure(bodies::book(records)).path == "$.data[1]." + part[0].first);
}

TEST_CASE("a brace is no comma, though the first key of a record is learned with one") {
  auto records = bodies::records(trade_schema, 4);
  records[1].insert(records[1].begin(), {"unknown", "null"});
  std::swap(records[2][0], records[2][1]);
  records[3].insert(records[3].begin(), {{"unknown", "1"}, {"another", "[]"}});
  // Not wider than the first: a wider one is learned from, and so looked at twice.
  for (auto& record : records) record.resize(records[0].size() - 5);
  for (const bodies::Layout& layout : layouts) {
    const std::string sound = bodies::book(records, layout);
    CHECK(book(sound)->rows() == 4);
    for (std::size_t at = sound.find(','); at != sound.npos; at = sound.find(',', at + 1)) {
      for (const char wrong : {'{', '}', '[', ']', ':', ' '}) {
        std::string malformed = sound;
        malformed[at] = wrong;
        CAPTURE(malformed.substr(at > 20 ? at - 20 : 0, 50));
        CHECK(book_failure(malformed).kind == ErrorKind::decode);
      }
    }
  }
  CHECK(book_failure(bodies::envelope(R"([{"a":1,"b":2},{"x":null{"a":1}])")).path == "$.data[1]");
}
