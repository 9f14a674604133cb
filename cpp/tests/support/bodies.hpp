// Bodies as the service sends them, made from the field tables: for tests, benchmarks and fuzzing.
#pragma once

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table/schema.hpp"

namespace tradingdata::bodies {

// A record's keys, unquoted, and their JSON values, in the order in which they are sent.
using Record = std::vector<std::pair<std::string, std::string>>;
using Random = std::mt19937_64;

inline std::string in_quotes(std::string_view text) {
  std::string result("\"");
  result += text;
  result += '"';
  return result;
}

inline std::string digits(Random& random, int count) {
  std::string text("1");
  while (static_cast<int>(text.size()) < count) text += static_cast<char>('0' + random() % 10);
  return text;
}

inline std::string value_of(const Field& field, int place, Random& random) {
  const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
  char text[48];
  switch (field.kind) {
    case Kind::text:
      if (field.personal()) return in_quotes("ABCDE1234F");
      return in_quotes(digits(random, place % 20));
    case Kind::integer: return std::to_string(1 + below(5000));
    case Kind::number:
      std::snprintf(text, sizeof text, "%d.%0*d", below(5000), 1 + below(2), below(10));
      return text;
    case Kind::timestamp:
      std::snprintf(text, sizeof text, "\"2026-11-20 %02d:%02d:%02d\"", 9 + below(6), below(60),
                    below(60));
      return text;
    case Kind::date: return below(5) == 0 ? "\"2026-11-27\"" : "\"0001-01-01\"";
  }
  return "null";
}

inline Record record(const Schema& schema, Random& random) {
  Record made;
  for (int place = 0; place < schema.sent(); ++place) {
    const Field& field = schema.field(place);
    made.emplace_back(field.name, value_of(field, place, random));
  }
  return made;
}

inline std::vector<Record> records(const Schema& schema, int count, unsigned seed = 1) {
  Random random(seed);
  std::vector<Record> made;
  for (int i = 0; i < count; ++i) made.push_back(record(schema, random));
  return made;
}

// A record's value, to be read or replaced.
inline std::string& value(Record& record, std::string_view name) {
  const auto found = std::find_if(record.begin(), record.end(),
                                  [&](const auto& pair) { return pair.first == name; });
  return found != record.end() ? found->second : record.emplace_back(name, "").second;
}

// How the JSON is laid out: what comes before a record, before a key, behind a colon, at the ends.
struct Layout {
  std::string_view record;
  std::string_view key;
  std::string_view value;
  std::string_view record_end;
};

inline constexpr Layout compact{"", "", "", ""};
inline constexpr Layout spaced{" ", " ", " ", ""};
inline constexpr Layout indented{"\n    ", "\n      ", " ", "\n    "};

inline std::string json(const Record& record, const Layout& layout = compact) {
  std::string text("{");
  for (std::size_t i = 0; i < record.size(); ++i) {
    if (i > 0) text += ',';
    text += layout.key;
    text += in_quotes(record[i].first);
    text += ':';
    text += layout.value;
    text += record[i].second;
  }
  text += layout.record_end;
  text += '}';
  return text;
}

inline std::string list(const std::vector<Record>& records, const Layout& layout = compact) {
  std::string text("[");
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i > 0) text += ',';
    text += layout.record;
    text += json(records[i], layout);
  }
  text += ']';
  return text;
}

inline std::string envelope(std::string_view data) {
  std::string text("{\"data\":");
  text += data;
  text += R"(,"message":"Success","status":"success"})";
  return text;
}

inline std::string book(const std::vector<Record>& records, const Layout& layout = compact) {
  return envelope(list(records, layout));
}

// The body of `schema`: a book, or a bare list for what has no envelope.
inline std::string body(const Schema& schema, int count, const Layout& layout = compact) {
  const std::vector<Record> made = records(schema, count);
  return schema.record == "Stock" ? list(made, layout) : book(made, layout);
}

}  // namespace tradingdata::bodies
