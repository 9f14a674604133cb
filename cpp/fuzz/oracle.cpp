// Compares decoded tables with what simdjson reads from the same body.
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/time.hpp"

namespace tradingdata::oracle {

namespace dom = simdjson::dom;

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_surrogate_escape(std::string_view text) {
  const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  return text.size() >= 6 && text[1] == 'u' && (text[2] | 0x20) == 'd' && is_hex(text[3]) &&
         (text[3] >= 'a' || text[3] >= 'A' || text[3] >= '8') && is_hex(text[4]) && is_hex(text[5]);
}

bool says_success(std::string_view status) {
  std::string lower(status);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  return lower == "success";
}

// No record of the service: something else than an object, or one with a known field twice.
bool is_odd(const Element& element, const Schema& schema) {
  dom::object record;
  if (element.get(record) != simdjson::SUCCESS) return true;
  std::set<std::string_view> seen;
  for (const auto pair : record) {
    if (schema.find_sent(pair.key) >= 0 && !seen.insert(pair.key).second) return true;
  }
  return false;
}

Verdict verdict_of_records(const dom::array& records, const Schema& schema) {
  for (const Element element : records) {
    if (is_odd(element, schema)) return Verdict::decode;
  }
  return Verdict::book;
}

struct Members {
  std::optional<Element> data, status, message;
  bool repeated = false;
};

Members members_of(const dom::object& envelope) {
  Members members;
  const auto keep = [&](std::optional<Element>& member, const Element& value) {
    members.repeated = members.repeated || member.has_value();
    if (!member) member = value;
  };
  for (const auto pair : envelope) {
    if (pair.key == "data") keep(members.data, pair.value);
    if (pair.key == "status") keep(members.status, pair.value);
    if (pair.key == "message") keep(members.message, pair.value);
  }
  return members;
}

__extension__ using Wide = __int128;

// Compares an integer with what a column holds as a double: a column of numbers holds those that a
// double is exactly.
template <class Integer>
void compare_integer(Integer sent, Kind kind, bool valid, double held) {
  const auto nearest = static_cast<double>(sent);
  const bool in_integers = sent <= Integer{std::numeric_limits<std::int64_t>::max()};
  const bool exact = static_cast<Wide>(nearest) == static_cast<Wide>(sent);
  require(valid == (kind == Kind::integer ? in_integers : exact),
          "an integer is kept, or not, for no reason");
  if (valid) require(held == nearest, "an integer differs");
}

// Compares the number in a column, as a double, where simdjson has one to compare it with.
void compare_number(const Element& sent, Kind kind, bool valid, double held) {
  if (sent.is_int64()) {
    compare_integer(static_cast<std::int64_t>(sent), kind, valid, held);
  } else if (sent.is_uint64()) {
    compare_integer(static_cast<std::uint64_t>(sent), kind, valid, held);
  } else {
    const auto value = static_cast<double>(sent);
    // simdjson does not tell 9007199254740993.0, which a double is not, from 9007199254740992.0.
    const bool may_round = value == std::trunc(value) && std::abs(value) >= 9007199254740992.0;
    if (kind == Kind::number && !may_round) require(valid, "a number is lost");
    if (kind == Kind::integer && value != std::trunc(value))
      require(!valid, "a fraction is an integer");
    if (valid) require(held == value, "a number differs");
  }
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

void compare_numeric(const Element& sent, Kind kind, bool valid, double held) {
  if (sent.is_number()) return compare_number(sent, kind, valid, held);
  if (!sent.is_string()) return require(!valid, "a value of another kind is a number");
  static dom::parser parser;
  const std::string text(trimmed(std::string_view(sent)));
  Element number;
  const auto error = parser.parse(text).get(number);
  const bool bare = !text.empty() && (text[0] == '-' || is_digit(text[0])) && is_digit(text.back());
  if (error == simdjson::SUCCESS && number.is_number() && bare) {
    return compare_number(number, kind, valid, held);
  }
  if (error != simdjson::NUMBER_ERROR) require(!valid, "a text that is no number is one");
}

void compare_text(const Element& sent, const Table& table, int field, std::int64_t row) {
  const bool valid = table.valid(field, row);
  if (sent.is_string()) {
    require(valid && table.text(field, row) == std::string_view(sent), "a text differs");
  } else if (sent.is_number()) {
    const std::string text(table.text(field, row));
    require(valid && !text.empty(), "a number is lost in a text column");
    const double value = sent.is_int64()    ? static_cast<double>(std::int64_t(sent))
                         : sent.is_uint64() ? static_cast<double>(std::uint64_t(sent))
                                            : double(sent);
    require(std::strtod(text.c_str(), nullptr) == value, "a number differs in a text column");
  } else {
    require(!valid, "a value of another kind is a text");
  }
}

// What is held must be what was sent, up to the forms that are converted; and what was sent in the
// documented form must be held.
void compare_time(const Element& sent, const std::optional<std::string>& held, bool is_date) {
  if (!sent.is_string()) return require(!held, "a value of another kind is a time");
  std::string text{std::string_view(sent)};
  int year, month, day, hour = 0, minute = 0, second = 0, end = -1;
  if (is_date) {
    std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &end);
  } else {
    std::sscanf(text.c_str(), "%4d-%2d-%2d %2d:%2d:%2d%n", &year, &month, &day, &hour, &minute,
                &second, &end);
  }
  if (end == static_cast<int>(text.size())) {
    std::tm calendar{};
    calendar.tm_year = year - 1900;
    calendar.tm_mon = month - 1;
    calendar.tm_mday = day;
    calendar.tm_hour = hour;
    calendar.tm_min = minute;
    calendar.tm_sec = second;
    const std::time_t moment = timegm(&calendar);
    char again[64];
    const std::tm* const found = gmtime(&moment);
    std::snprintf(again, sizeof again, "%04d-%02d-%02d", found->tm_year + 1900, found->tm_mon + 1,
                  found->tm_mday);
    std::string same(again);
    if (!is_date) {
      std::snprintf(again, sizeof again, " %02d:%02d:%02d", found->tm_hour, found->tm_min,
                    found->tm_sec);
      same += again;
    }
    const bool zero = text.substr(0, 10) == "0001-01-01";
    if (same == text && year >= 1) {
      return require(zero ? !held : held == text, "a time differs");
    }
  }
  if (!held) return;
  if (text.size() > 10 && text[10] == 'T') text[10] = ' ';
  text.resize(std::min(text.size(), text.find_first_of("Z+-", 10)));  // an offset is not held
  require(text.substr(0, held->size()) == held->substr(0, text.size()),
          "a time is not what was sent");
}

// Whether times of a field are lost because others of it have another offset, or one at all.
bool has_other_offset(const Table& table, int field) {
  return std::ranges::any_of(table.issues(), [&](const Issue& issue) {
    return issue.problem == Problem::offset_differs &&
           issue.field == table.schema().field(field).name;
  });
}

void compare_cell(const Element& sent, const Table& table, int field, std::int64_t row) {
  const Column& column = table.column(field);
  const bool valid = table.valid(field, row);
  switch (table.schema().field(field).kind) {
    case Kind::text: return compare_text(sent, table, field, row);
    case Kind::integer:
      return compare_numeric(sent, Kind::integer, valid,
                             static_cast<double>(column.as<std::int64_t>()[row]));
    case Kind::number: return compare_numeric(sent, Kind::number, valid, column.as<double>()[row]);
    case Kind::timestamp:
      if (!valid && has_other_offset(table, field)) return;
      return compare_time(
          sent,
          valid ? std::optional(format_timestamp(column.as<std::int64_t>()[row])) : std::nullopt,
          false);
    case Kind::date:
      return compare_time(
          sent, valid ? std::optional(format_date(column.as<std::int32_t>()[row])) : std::nullopt,
          true);
  }
}

void compare_extras(const std::map<std::string_view, Element>& sent, const Table& table,
                    std::int64_t row) {
  static dom::parser parser;
  const std::span<const Extra> extras = table.extras_of(row);
  require(extras.size() == sent.size(), "unknown fields are lost");
  for (const Extra& extra : extras) {
    const auto found = sent.find(table.extra_name(extra));
    require(found != sent.end(), "an unknown field was not sent");
    const std::string json(table.extra_json(extra));
    Element kept;
    require(parser.parse(json).get(kept) == simdjson::SUCCESS, "an unknown field is no JSON");
    require(simdjson::minify(kept) == simdjson::minify(found->second), "an unknown field differs");
  }
}

}  // namespace

void disagree(std::string_view what) {
  std::fprintf(stderr, "DISAGREEMENT: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

std::string harmless(std::string_view body) {
  std::string result;
  bool quoted = false;
  int run = 0;  // of digits
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    run = !quoted && is_digit(c) ? run + 1 : 0;
    if (run > 2) continue;
    if (quoted && c == '\\' && i + 1 < body.size()) {
      const bool surrogate = is_surrogate_escape(body.substr(i));
      result += surrogate ? std::string_view("\\u0041") : body.substr(i, 2);
      i += surrogate ? 5 : 1;
      continue;
    }
    if (c == '"') quoted = !quoted;
    result += c;
  }
  return result;
}

bool is_json(dom::parser& parser, std::string_view body) {
  const std::string text = harmless(body);
  return parser.parse(text).error() == simdjson::SUCCESS;
}

Verdict verdict_of_book(const Element& document, const Schema& schema) {
  dom::object envelope;
  if (document.get(envelope) != simdjson::SUCCESS) return Verdict::decode;
  const Members members = members_of(envelope);
  if (members.repeated || !members.status || !members.status->is_string()) return Verdict::decode;
  if (!says_success(*members.status)) return Verdict::service;
  if (!members.data) return Verdict::decode;
  if (members.data->is_null()) return Verdict::book;
  dom::array records;
  if (members.data->get(records) != simdjson::SUCCESS) return Verdict::decode;
  return verdict_of_records(records, schema);
}

Verdict verdict_of_list(const Element& document, const Schema& schema) {
  if (document.is_null()) return Verdict::book;
  dom::object envelope;
  if (document.get(envelope) == simdjson::SUCCESS) {
    const Members members = members_of(envelope);
    const bool status = members.status && members.status->is_string();
    if (status) return says_success(*members.status) ? Verdict::decode : Verdict::service;
    return members.message && members.message->is_string() ? Verdict::service : Verdict::decode;
  }
  dom::array records;
  if (document.get(records) != simdjson::SUCCESS) return Verdict::decode;
  return verdict_of_records(records, schema);
}

void compare(const Element& records, const Table& table) {
  if (records.is_null()) return require(table.rows() == 0, "there are rows of nothing");
  std::int64_t row = 0;
  for (const Element element : dom::array(records)) {
    require(row < table.rows(), "rows are lost");
    std::set<int> missing;
    for (int field = 0; field < table.schema().width(); ++field) missing.insert(field);
    std::map<std::string_view, Element> unknown;
    for (const auto pair : dom::object(element)) {
      const int field = table.schema().find_sent(pair.key);
      if (field < 0) {
        unknown.insert_or_assign(pair.key, pair.value);
        continue;
      }
      missing.erase(field);
      compare_cell(pair.value, table, field, row);
    }
    for (const int field : missing)
      require(!table.valid(field, row), "a missing field has a value");
    compare_extras(unknown, table, row);
    ++row;
  }
  require(row == table.rows(), "there are rows that were not sent");
}

}  // namespace tradingdata::oracle
