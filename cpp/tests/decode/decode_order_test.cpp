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

// A record whose keys are in another order, some of them escaped, left out, or beside unknown ones.
bodies::Record varied(bodies::Record record, std::size_t row, bodies::Random& random) {
  const auto some = [&](std::size_t of) { return random() % of == 0; };
  switch (row % 5) {
    case 0: std::reverse(record.begin(), record.end()); break;
    case 1: std::shuffle(record.begin(), record.end(), random); break;
    case 2: std::rotate(record.begin(), record.begin() + 3, record.end()); break;
    default: break;
  }
  if (row % 4 == 1) record.resize(row % record.size());
  for (auto& [name, value] : record) {
    if (row % 7 == 6 || some(20)) name = escaped(name);
  }
  if (some(2)) record.insert(record.begin(), {"before", "[1]"});
  if (some(2)) record.emplace_back("after", "\"x\"");
  for (int i = 0; row == 20 && i < 300; ++i) {
    record.emplace_back("many" + std::to_string(i), std::to_string(i));
  }
  return record;
}

}  // namespace

TEST_CASE("keys of any order, spelling, layout and number are the same fields") {
  bodies::Random random(5);
  for (const Schema* schema : record_schemas) {
    const auto records = bodies::records(*schema, 60);
    const auto sent = [&](const auto& made, const bodies::Layout& layout) {
      return schema->record == "Stock" ? bodies::list(made, layout) : bodies::book(made, layout);
    };
    const Decoded expected = decode(*schema, sent(records, bodies::compact));
    CHECK(expected->issues().empty());
    for (const bodies::Layout& layout : layouts) {
      CHECK(contents(*decode(*schema, sent(records, layout))) == contents(*expected));
      std::vector<bodies::Record> made;
      for (const bodies::Record& record : records) {
        made.push_back(varied(record, made.size(), random));
      }
      const Decoded table = decode(*schema, sent(made, layout));
      for (std::int64_t row = 0; row < table->rows(); ++row) {
        std::size_t known = 0;
        for (const Field& field : schema->fields) {
          const auto is_sent = [&](const auto& pair) {
            return pair.first == field.name || pair.first == escaped(field.name);
          };
          const auto& record = made[static_cast<std::size_t>(row)];
          const bool has_it = std::any_of(record.begin(), record.end(), is_sent);
          known += has_it ? 1 : 0;
          CHECK(cell(*table, field.name, row) ==
                (has_it ? cell(*expected, field.name, row) : "null"));
        }
        CHECK(table->extras_of(row).size() == made[static_cast<std::size_t>(row)].size() - known);
      }
      for (const Issue& noted : table->issues()) CHECK(noted.problem == Problem::missing);
    }
  }
}

TEST_CASE("an escaped key of the envelope is the same key") {
  std::string envelope = bodies::body(trade_schema, 2);
  const std::string expected = contents(*book(envelope));
  envelope.replace(envelope.find("\"data\""), 6, "\"" + escaped("data") + "\"");
  envelope.replace(envelope.rfind("\"status\""), 8, "\"" + escaped("status") + "\"");
  CHECK(contents(*book(envelope)) == expected);
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
