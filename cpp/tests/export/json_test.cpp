// JSON that the decoder reads back, and records as they were sent.
#include "export/json.hpp"
#include "decode/decode.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "table/records.hpp"
#include "table/row_values.hpp"

using namespace tradingdata;

namespace {

TablePtr decoded(const std::string& json) {
  return decode_list(trade_schema, Buffer(json), {.keep_personal_data = true});
}

// Every row must come back as it was, with nothing lost on the way.
void check_round_trip(const std::string& json) {
  CAPTURE(json);
  const TablePtr table = decoded(json);
  const TablePtr again = decoded(rows_as_json(*table, 0, table->rows()));
  REQUIRE(again->rows() == table->rows());
  for (std::int64_t row = 0; row < table->rows(); ++row) CHECK(same_row(*table, row, *again, row));
  for (const Issue& issue : again->issues()) CHECK_FALSE(describe(issue.problem).lost);
}

}  // namespace

TEST_CASE("text of every kind comes back from JSON") {
  check_round_trip(R"([{"symbol": ""}, {"symbol": "twelve bytes"}, {"symbol": "thirteen byte"},
      {"symbol": "\"\\\/\b\f\n\r\t\u0000\u001f\u007f"}, {"symbol": "रु₹1234 \ud83d\udcc8"}])");
}

TEST_CASE("numbers come back from JSON exactly") {
  check_round_trip(R"([{"traded_price": 0.1}, {"traded_price": -0.0}, {"traded_price": 1e308},
      {"traded_price": 5e-324}, {"traded_price": 9007199254740993.0}, {"traded_price": 1e22},
      {"traded_price": 1.7976931348623157e308}, {"traded_price": -123456789012345680000.0},
      {"quantity": 9223372036854775807}, {"quantity": -9223372036854775808}])");
}

TEST_CASE("times and dates come back from JSON, fractions too") {
  check_round_trip(R"([{"exch_trade_time": "2026-01-06 09:15:01", "expiry_date": "2026-01-29"},
      {"exch_trade_time": "1969-12-31 23:59:59.999999", "expiry_date": "9999-12-31"},
      {"exch_trade_time": "0001-01-02 00:00:00.000001", "expiry_date": "0001-01-02"},
      {"exch_trade_time": "9999-12-31 23:59:59.999999"}])");
}

TEST_CASE("unknown fields come back as they were sent") {
  check_round_trip(R"([{"न": [1, {"a" : null}], "x\"y": 1e400, "": "\ud800"}, {}])");
  const TablePtr table = decoded(R"([{"more": [1,  2]}])");
  CHECK(row_as_json(*table, 0).ends_with(R"("more":[1,  2]})"));
}

TEST_CASE("a range of rows is an array of them") {
  const TablePtr table = decoded(R"([{"quantity": 1}, {"quantity": 2}, {"quantity": 3}])");
  CHECK(rows_as_json(*table, 1, 1) == "[]");
  CHECK(rows_as_json(*table, 1, 2) == "[" + row_as_json(*table, 1) + "]");
  CHECK(decoded(rows_as_json(*table, 1, 3))->rows() == 2);
}

TEST_CASE("a complete response gives its records as they were sent") {
  const TablePtr list = decoded(R"( [ {"traded_price" : "NA", "x": [1, {}]} , {} ])");
  CHECK(sent_records(*list) ==
        std::vector<std::string_view>{R"({"traded_price" : "NA", "x": [1, {}]})", "{}"});
  const TablePtr book = decode_book(
      trade_schema,
      Buffer("\xEF\xBB\xBF{\"message\":\"data\", \"d\\u0061ta\":[{\"symbol\":\"]}\"}, {}],"
             "\"status\":\"success\", \"more\": [{}]}"),
      {});
  CHECK(sent_records(*book) == std::vector<std::string_view>{R"({"symbol":"]}"})", "{}"});
  CHECK(sent_records(*decode_book(trade_schema,
                                  Buffer(R"({"status":"success","message":"Success","data":null})"),
                                  {}))
            .empty());
}

TEST_CASE("a sent record holds a personal value as the body does: masked") {
  const std::string json = R"([{"pan_no":"ABCDE1234F"}])";
  CHECK(sent_records(*decode_list(trade_schema, Buffer(json), {}))[0] ==
        R"({"pan_no":"ABXXXXXX4F"})");
  CHECK(sent_records(*decoded(json))[0] == R"({"pan_no":"ABCDE1234F"})");
}

TEST_CASE("a part of a response has no records as sent") {
  CHECK_THROWS_AS(sent_records(*gather(*decoded("[{}]"), std::vector<std::int64_t>{0})),
                  std::logic_error);
}

TEST_CASE("rows leave as JSON with the chosen fields, in an array or on lines of their own") {
  const TablePtr table = decoded(
      "[{\"symbol\": \"A\\\"\", \"traded_price\": 1.5, \"exch_trade_time\": "
      "\"2026-01-06 09:15:01\", \"more\": [1,\n2]}, {\"symbol\": null}]");
  const std::vector<int> fields{trade_schema["traded_price"], trade_schema["symbol"]};
  JsonOptions options{.length = 2, .fields = fields};
  CHECK(export_json(*table, options) ==
        "[\n{\"traded_price\":1.5,\"symbol\":\"A\\\"\"},\n{\"traded_price\":null,\"symbol\":null}"
        "\n]\n");
  options.lines = options.extras = true;
  options.length = 1;
  CHECK(export_json(*table, options) ==
        "{\"traded_price\":1.5,\"symbol\":\"A\\\"\",\"more\":[1, 2]}\n");
  options.fields = {trade_schema["exch_trade_time"]};
  options.extras = false;
  options.offset = [](std::int64_t) { return -19'800'000'000; };
  CHECK(export_json(*table, options) == "{\"exch_trade_time\":\"2026-01-06 09:15:01-05:30\"}\n");
  options.length = 0;
  CHECK(export_json(*table, options).empty());
  options.lines = false;
  CHECK(export_json(*table, options) == "[]\n");
}
