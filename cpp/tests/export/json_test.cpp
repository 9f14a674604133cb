// Records as they were sent; what is exported as JSON is proved in Python.
#include "export/json.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/whole_body.hpp"
#include "table/records.hpp"
#include "table/rows.hpp"

using namespace tradingdata;

namespace {

TablePtr decoded(const std::string& json) {
  return decode_list(trade_schema, Buffer(json), {.keep_personal_data = true});
}

}  // namespace

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
  const std::string none = R"({"status":"success","message":"Success","data":null})";
  CHECK(sent_records(*decode_book(trade_schema, Buffer(none), {})).empty());
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

TEST_CASE("offsets are read where they are: a copy of one of Python's would count references") {
  struct Copied {
    int* count;
    explicit Copied(int* of) : count(of) {}
    Copied(const Copied& from) : count(from.count) { ++*count; }
    Copied& operator=(const Copied&) = delete;
    std::int64_t operator()(std::int64_t) const { return 0; }
  };
  int copies = 0;
  Rows rows{.table = decoded(R"([{"exch_trade_time":"2026-11-20 10:04:05"}])"),
            .stop = 1,
            .columns = {trade_schema["exch_trade_time"]},
            .offset = Copied(&copies)};
  copies = 0;
  CHECK(export_json(rows, false, true) == "{\"exch_trade_time\":\"2026-11-20 10:04:05+00:00\"}\n");
  CHECK(copies == 0);
}
