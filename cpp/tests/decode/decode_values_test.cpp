// Values that fit, and those that do not: what becomes of them, and what is said of it.
#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "support/bodies.hpp"
#include "support/cases.hpp"
#include "support/decoding.hpp"

using namespace tradingdata;
using namespace tradingdata::decoding;

namespace {

// One trade, sound but for the value of one field.
std::string with(std::string_view field, std::string_view value) {
  std::vector<bodies::Record> records = bodies::records(trade_schema, 1);
  bodies::value(records[0], field) = value;
  return bodies::book(records);
}

struct Expected {
  std::string_view sent;
  std::string_view held;
  std::optional<Problem> problem = std::nullopt;
};

void check(std::string_view field, const Expected& expected) {
  CAPTURE(field);
  CAPTURE(expected.sent);
  const std::string body = with(field, expected.sent);
  const Decoded table = book(body);
  CHECK(cell(*table, field) == expected.held);
  CHECK(table->issues().size() == (expected.problem ? 1 : 0));
  bool lost = false;
  if (expected.problem) {
    const auto found = issue(*table, field, *expected.problem);
    REQUIRE(found);
    CHECK(found->count == 1);
    CHECK(found->row == 0);
    CHECK(found->raw.substr(0, 60) == expected.sent.substr(0, 60));
    lost = describe(*expected.problem).lost;
  }
  if (lost) {
    const Error error = book_failure(body, {.strict = true});
    CHECK(error.kind == ErrorKind::decode);
    CHECK(error.path == "$.data[0]." + std::string(field));
    CHECK(error.offset == static_cast<std::int64_t>(body.find(expected.sent, body.find(field))));
  } else {
    CHECK(book(body, {.strict = true})->rows() == 1);
  }
}

// Values apart by '|', which are held as they are sent, or which become null.
void check_kept(std::string_view field, std::string_view values) {
  for (const std::string& value : cases(values)) check(field, {value, value});
}
void check_lost(std::string_view field, Problem problem, std::string_view values) {
  for (const std::string& value : cases(values)) check(field, {value, "null", problem});
}

}  // namespace

TEST_CASE("values of each kind of field") {
  const std::pair<std::string_view, std::vector<Expected>> fields[] = {
      {"symbol",
       {
           {"\"short \\u20B9\"", "short \xE2\x82\xB9"},
           {"\"a long text with an escape: \\\"quoted\\\"\"",
            "a long text with an escape: \"quoted\""},
           {"\"1\\u00002\"", std::string_view("1\0\x32", 3)},
           {"\"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80"},
       }},
      {"quantity",
       {
           {"-0", "0"},
           {"5.0", "5", Problem::integer_as_fraction},
           {"5e0", "5", Problem::integer_as_fraction},
           {"\"75\"", "75", Problem::number_as_text},
           {"\" 75 \"", "75", Problem::number_as_text},
           {"\"\\u0037\\u0035\"", "75", Problem::number_as_text},
       }},
      {"traded_price",
       {
           {"-0.0", "-0"},
           {"0.1", "0.10000000000000001"},
           {"123456789.123456789", "123456789.12345679"},
           {"1.5e3", "1500"},
           {"1e-999", "0"},
           {"\"1501.05\"", "1501.05", Problem::number_as_text},
       }},
      {"exch_trade_time",
       {
           {"\"0001-01-01 00:00:00\"", "null"},
           {"\"0001-01-01\"", "null"},
           {"\"0001-01-01T00:00:00Z\"", "null"},
           {"\"2026-11-20T10:04:05\"", "2026-11-20 10:04:05", Problem::time_in_other_form},
           {"\"2026-11-20 10:04:05.123\"", "2026-11-20 10:04:05.123000",
            Problem::time_in_other_form},
           {"\"2026-11-20 10:04:05.1234567\"", "2026-11-20 10:04:05.123456", Problem::time_cut},
           {"\"2026-11-20T10:04:05Z\"", "2026-11-20 10:04:05", Problem::offset_dropped},
           {"\"2026-11-20 10:04:05.5+05:30\"", "2026-11-20 10:04:05.500000",
            Problem::offset_dropped},
       }},
      {"expiry_date",
       {
           {"\"0001-01-01\"", "null"},
           {"\"0001-01-01 00:00:00\"", "null"},
           {"\"2026-11-27 00:00:00\"", "2026-11-27", Problem::date_with_time},
           {"\"2026-11-27T00:00:00\"", "2026-11-27", Problem::date_with_time},
           {"\"2026-11-27T00:00:00Z\"", "2026-11-27", Problem::date_with_time},
       }},
  };
  for (const auto& [field, values] : fields) {
    check_kept(field, "null");
    for (const Expected& expected : values) check(field, expected);
  }
  for (const std::string& text :
       cases("|twelve bytes|thirteen byte|exactly thirty-two bytes of text|"
             "a text that is longer than thirty-two bytes|0001-01-01|"
             "\xE0\xA4\x9F\xE0\xA4\xBE\xE0\xA4\x9F\xE0\xA4\xBE")) {
    check("symbol", {'"' + text + '"', text});
  }
  for (const std::string& number : cases("42|-1.50e3|123456789012345678901234567890|1e400")) {
    check("symbol", {number, number, Problem::text_as_number});
  }
  check_lost("symbol", Problem::not_text, "true|[]|{\"a\":1}");
  check_lost("symbol", Problem::lone_surrogate, "\"A\\ud800B\"|\"\\udc00\\ud800\"");
  check_kept("quantity",
             "0|99999999|-123456789|9007199254740993|9223372036854775807|-9223372036854775808");
  check_lost(
      "quantity", Problem::not_integer,
      "5.5|1e-999|\"1,501\"|\"NA\"|\"075\"|\"\\n75\"|\"75\\t\"|\"+75\"|\"75\\u0000\"|true|[75]");
  check_lost("quantity", Problem::out_of_range, "9223372036854775808|36893488147419103232|1e400");
  check_lost("quantity", Problem::lone_surrogate, "\"75\\ud800\"");
  check_kept("traded_price", "0|1501|1501.05|9007199254740992");
  check_lost("traded_price", Problem::would_round,
             "9007199254740993|\"9007199254740993\"|36893488147419103233");
  check_lost("traded_price", Problem::out_of_range, "1e400|\"-1e400\"");
  check_lost("traded_price", Problem::not_number, "\"1,501.05\"|\"MKT\"|\"NaN\"|false|{}");
  check("exch_trade_time", {"\"2026-11-20 10:04:05\"", "2026-11-20 10:04:05"});
  check_lost("exch_trade_time", Problem::not_time,
             "\"0000-00-00 00:00:00\"|\"2026-11-20 24:00:00\"|\"2026-11-20 10:04:05 IST\"|"
             "\"2026-11-20 10:04\"|\"2026-11-20\"|\"0001-01-01 24:00:00\"|1795169045|true");
  check("expiry_date", {"\"2026-11-27\"", "2026-11-27"});
  check_lost("expiry_date", Problem::not_date,
             "\"2026-11-27 15:30:00\"|\"2026-02-29\"|\"0000-00-00\"|\"27-11-2026\"|20261127");
  for (const char* field : {"quantity", "traded_price", "exch_trade_time", "expiry_date"}) {
    check(field, {"\"\"", "null", Problem::empty_text});
  }
  CHECK(cell(*book(with("exch_trade_time", R"("2026-11-20 \u00310:04:05")")), "exch_trade_time") ==
        "2026-11-20 10:04:05");
}

TEST_CASE("a time with another offset than most, or none, is lost") {
  const auto with_times = [](const std::vector<std::string>& offsets) {
    std::vector<bodies::Record> records =
        bodies::records(trade_schema, static_cast<int>(offsets.size() + 1) / 2);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const std::string_view field = i % 2 == 0 ? "order_date_time" : "exch_trade_time";
      const std::string value = "\"2026-11-20T10:04:05" + offsets[i] + "\"";
      for (auto& [name, json] : records[i / 2]) {
        if (name == field) json = value;
      }
    }
    return bodies::book(records);
  };
  const Decoded odd = book(with_times({"Z", "+05:30", "+0530", "+05:30", "+05:30", "+0530"}));
  CHECK(cell(*odd, "order_date_time", 0) == "null");
  for (std::int64_t row : {1, 2})
    CHECK(cell(*odd, "order_date_time", row) == "2026-11-20 10:04:05");
  for (std::int64_t row : {0, 1})
    CHECK(cell(*odd, "exch_trade_time", row) == "2026-11-20 10:04:05");
  const auto differs = issue(*odd, "order_date_time", Problem::offset_differs);
  REQUIRE(differs);
  CHECK(differs->count == 1);
  CHECK(differs->row == 0);
  CHECK(differs->raw == "\"2026-11-20T10:04:05Z\"");
  CHECK(issue(*odd, "order_date_time", Problem::offset_dropped)->count == 2);
  CHECK(issue(*odd, "exch_trade_time", Problem::offset_dropped)->count == 3);
  const Error error =
      book_failure(with_times({"+05:30", "Z"}), {.strict = true});  // the first of two stays
  CHECK(error.path == "$.data[0].exch_trade_time");
  CHECK_NOTHROW(book(with_times({"Z", "+00:00", "-00:00", "Z"}), {.strict = true}));

  const Decoded mixed = book(with_times({"", "Z", "Z", "Z", "", ""}));
  CHECK(cell(*mixed, "order_date_time", 0) == "2026-11-20 10:04:05");
  CHECK(cell(*mixed, "order_date_time", 1) == "null");
  CHECK(cell(*mixed, "exch_trade_time", 1) == "2026-11-20 10:04:05");
  CHECK(cell(*mixed, "exch_trade_time", 2) == "null");
  CHECK(issue(*mixed, "order_date_time", Problem::offset_differs)->raw ==
        "\"2026-11-20T10:04:05Z\"");
  CHECK(issue(*mixed, "exch_trade_time", Problem::offset_differs)->raw ==
        "\"2026-11-20 10:04:05\"");
  CHECK(book_failure(with_times({"Z", "", "", ""}), {.strict = true}).path ==
        "$.data[0].order_date_time");
}

TEST_CASE("a day is never taken from bytes that do not say it") {
  for (std::string_view field : {"expiry_date", "exch_trade_time"}) {
    const std::string zeros(11, '\0');
    CHECK(book_failure(with(field, zeros + "\"")).kind == ErrorKind::decode);
    CHECK(book_failure(with(field, zeros + " 10:04:05\"")).kind == ErrorKind::decode);
  }
}

TEST_CASE("a missing field is null, an issue, and refused when strict") {
  std::vector<bodies::Record> records = bodies::records(trade_schema, 3);
  bodies::drop(records[1], "symbol");
  bodies::drop(records[2], "symbol");
  bodies::drop(records[2], "quantity");
  const std::string body = bodies::book(records);
  const Decoded table = book(body);
  CHECK(cell(*table, "symbol", 1) == "null");
  CHECK(cell(*table, "quantity", 2) == "null");
  CHECK(cell(*table, "quantity", 1) != "null");
  CHECK(table->issues().size() == 2);
  CHECK(issue(*table, "symbol", Problem::missing)->count == 2);
  CHECK(issue(*table, "symbol", Problem::missing)->row == 1);
  CHECK(issue(*table, "symbol", Problem::missing)->raw == "");
  CHECK(issue(*table, "quantity", Problem::missing)->row == 2);
  CHECK(book_failure(body, {.strict = true}).path == "$.data[1].symbol");
}

TEST_CASE("a field of another case is unknown, and the known one is missing") {
  std::vector<bodies::Record> records = bodies::records(trade_schema, 1);
  bodies::drop(records[0], "symbol");
  bodies::value(records[0], "Symbol") = "\"INFY\"";
  const Decoded table = book(bodies::book(records));
  CHECK(issue(*table, "symbol", Problem::missing));
  CHECK(table->extra_names() == std::vector<std::string>{"Symbol"});
}

TEST_CASE("an issue counts its rows, and shows the first with its value capped") {
  std::vector<bodies::Record> records = bodies::records(trade_schema, 500);
  for (std::size_t i = 100; i < 400; ++i)
    bodies::value(records[i], "quantity") = "\"q" + std::to_string(i) + "\"";
  bodies::value(records[50], "symbol") =
      "[\"" + std::string(61, 'a') + "\xE2\x82\xB9" + std::string(100, 'b') + "\"]";
  const Decoded table = book(bodies::book(records));
  CHECK(table->issues().size() == 2);
  const auto numbers = issue(*table, "quantity", Problem::not_integer);
  CHECK(numbers->count == 300);
  CHECK(numbers->row == 100);
  CHECK(numbers->raw == "\"q100\"");
  CHECK(issue(*table, "symbol", Problem::not_text)->raw == "[\"" + std::string(61, 'a') + "...");
}

TEST_CASE("a strict reading refuses the first lost value, unless the body is malformed") {
  std::vector<bodies::Record> records = bodies::records(trade_schema, 3);
  bodies::value(records[2], "quantity") = "\"NA\"";
  bodies::value(records[1], "expiry_date") = "\"NA\"";
  const std::string body = bodies::book(records);
  const Error error = book_failure(body, {.strict = true});
  CHECK(error.path == "$.data[1].expiry_date");
  CHECK(std::string(error.what()).find("not a date") != std::string::npos);
  CHECK(book_failure(body.substr(0, body.size() - 1), {.strict = true}).incomplete);
}

TEST_CASE("unknown fields are kept as they were sent, each with its row") {
  std::vector<bodies::Record> records = bodies::records(trade_schema, 4);
  bodies::value(records[0], "margin") = "1e400";
  bodies::value(records[2], "legs") = "[ {\"a\" : \"\\u0041\"}, 36893488147419103232 ]";
  bodies::value(records[2], "margin") = "\"\\ud800\"";
  records[3].insert(records[3].begin(), {"first\\u002d", "null"});
  const Decoded table = book(bodies::book(records));
  CHECK(table->issues().empty());
  CHECK(table->extra_names() == std::vector<std::string>{"margin", "legs", "first-"});
  CHECK(table->extras().size() == 4);
  CHECK(table->extra_json(table->extras()[1]) == "[ {\"a\" : \"\\u0041\"}, 36893488147419103232 ]");
  CHECK(table->extras_of(1).empty());
  CHECK(table->extras_of(2).size() == 2);
  CHECK(table->extras_of(2).data() == &table->extras()[1]);
}

TEST_CASE("the last value of a repeated unknown field is kept, and the repetition is an issue") {
  std::vector<bodies::Record> records = bodies::records(trade_schema, 3);
  for (std::string value : {"1", "2", "3"}) records[1].emplace_back("margin", value);
  bodies::value(records[2], "margin") = "4";
  const std::string body = bodies::book(records);
  const Decoded table = book(body);
  CHECK(table->extras().size() == 2);
  CHECK(table->extra_json(table->extras()[0]) == "3");
  const auto found = issue(*table, "margin", Problem::repeated_key);
  CHECK(found->count == 2);
  CHECK(found->row == 1);
  CHECK(found->raw == "1");
  CHECK(book_failure(body, {.strict = true}).path == "$.data[1].margin");
}
