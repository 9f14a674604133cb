// Keys in any order, spelling and layout: the same table.
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

std::string in_order(const Schema& schema, const std::vector<bodies::Record>& records,
                     const bodies::Layout& layout = bodies::compact) {
  return schema.record == "Stock" ? bodies::list(records, layout) : bodies::book(records, layout);
}

// Every letter of a key as an escape.
std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
    text += escape;
  }
  return text;
}

std::string unchanged_contents(const Schema& schema, const std::vector<bodies::Record>& records) {
  const Decoded table = decode(schema, in_order(schema, records));
  CHECK(table->issues().empty());
  return contents(*table);
}

}  // namespace

TEST_CASE("the layout does not matter") {
  for (const Schema* schema : record_schemas) {
    const auto records = bodies::records(*schema, 40);
    const std::string expected = unchanged_contents(*schema, records);
    for (const bodies::Layout& layout : layouts) {
      CHECK(contents(*decode(*schema, in_order(*schema, records, layout))) == expected);
    }
  }
}

TEST_CASE("the order of keys does not matter, reversed, rotated or shuffled for each record") {
  for (const Schema* schema : record_schemas) {
    auto records = bodies::records(*schema, 60);
    const std::string expected = unchanged_contents(*schema, records);
    auto reversed = records;
    for (auto& record : reversed) std::reverse(record.begin(), record.end());
    CHECK(contents(*decode(*schema, in_order(*schema, reversed))) == expected);
    bodies::Random random(5);
    auto shuffled = records;
    for (auto& record : shuffled) std::shuffle(record.begin(), record.end(), random);
    CHECK(contents(*decode(*schema, in_order(*schema, shuffled, bodies::spaced))) == expected);
    for (std::size_t i = 0; i < records.size(); ++i) {
      auto& record = records[i];
      std::rotate(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(i % record.size()),
                  record.end());
    }
    CHECK(contents(*decode(*schema, in_order(*schema, records))) == expected);
  }
}

TEST_CASE("an escaped key is the same key") {
  auto records = bodies::records(trade_schema, 20);
  const std::string expected = unchanged_contents(trade_schema, records);
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto& pair = records[i][i];
    pair.first = escaped(pair.first);
  }
  const std::string body = bodies::book(records);
  CHECK(contents(*book(body)) == expected);
  auto all = records;
  for (auto& record : all) {
    for (auto& pair : record) {
      if (pair.first[0] != '\\') pair.first = escaped(pair.first);
    }
  }
  CHECK(contents(*book(bodies::book(all))) == expected);
  std::string envelope = body;
  envelope.replace(envelope.find("\"data\""), 6, "\"" + escaped("data") + "\"");
  envelope.replace(envelope.rfind("\"status\""), 8, "\"" + escaped("status") + "\"");
  CHECK(contents(*book(envelope)) == expected);
}

TEST_CASE("unknown keys, first, last and many, change nothing of the known") {
  auto records = bodies::records(trade_schema, 50);
  const Decoded known = book(bodies::book(records));
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto& record = records[i];
    record.insert(record.begin(), {"before", "[1]"});
    record.emplace_back("after", "\"x\"");
    if (i % 3 == 0) record.insert(record.begin() + 10, {"sometimes", "{}"});
    for (int j = 0; i == 20 && j < 300; ++j)
      record.emplace_back("many" + std::to_string(j), std::to_string(j));
  }
  const Decoded table = book(bodies::book(records));
  CHECK(table->issues().empty());
  CHECK(table->extra_names().size() == 303);
  CHECK(table->extras().size() == 50 + 50 + 17 + 300);
  for (std::int64_t row = 0; row < 50; ++row) {
    for (const Field& field : trade_schema.fields)
      CHECK(cell(*table, field.name, row) == cell(*known, field.name, row));
  }
}

TEST_CASE("records that have ever more keys, or fewer, are read alike") {
  auto records = bodies::records(trade_schema, 80);
  const auto whole = records;
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto& record = records[i];
    record.resize(i < record.size() ? i : 80 - i);
  }
  const Decoded table = book(bodies::book(records));
  CHECK(table->rows() == 80);
  const Decoded expected = book(bodies::book(whole));
  for (std::int64_t row = 0; row < 80; ++row) {
    const auto& record = records[static_cast<std::size_t>(row)];
    for (const Field& field : trade_schema.fields) {
      const bool sent = std::any_of(record.begin(), record.end(),
                                    [&](const auto& pair) { return pair.first == field.name; });
      CHECK(cell(*table, field.name, row) == (sent ? cell(*expected, field.name, row) : "null"));
    }
  }
}

TEST_CASE("a known field that a record has twice is an error, in any order and spelling") {
  const auto records = bodies::records(trade_schema, 3);
  for (std::size_t at = 0; at < records[0].size(); ++at) {
    for (const std::size_t row : {0u, 2u}) {
      for (const bool hidden : {false, true}) {
        auto changed = records;
        auto& record = changed[row];
        const auto pair = record[at];
        record.insert(record.begin() + static_cast<std::ptrdiff_t>(at * 7 % record.size()),
                      {hidden ? escaped(pair.first) : pair.first, "null"});
        const Error error = book_failure(bodies::book(changed));
        CHECK(error.kind == ErrorKind::decode);
        CHECK(error.path == "$.data[" + std::to_string(row) + "]." + pair.first);
      }
    }
  }
  CHECK(book_failure(bodies::envelope(R"([{"symbol":"A","symbol":"A"}])")).path ==
        "$.data[0].symbol");
  const std::string malformed = bodies::envelope(R"([{"symbol":"A","symbol":tru}])");
  CHECK(book_failure(malformed).offset == static_cast<std::int64_t>(malformed.find("tru") + 3));
}

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
