// A body that arrives in pieces decodes as the complete body does, and is decoded while it
// arrives.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/decode.hpp"
#include "support/bodies.hpp"
#include "support/incremental.hpp"
#include "support/tokens.hpp"
#include "table/records.hpp"

using namespace tradingdata;
using incremental::all_at_once;
using incremental::in_pieces;
using Form = Decoder::Form;

namespace {

// Records in which reading again would show: values that are masked, lost, converted, kept apart
// from the body, unknown, repeated, an echoed token, and times with offsets.
const std::string telling =
    R"({"message":"Suc\u0063ess", "odd":{"pan_no":"ABCDE1234F"}, "data":[)"
    R"({"pan_no":"ABCDE1234F","symbol":"M\u0026M","quantity":"5","x":1,"x":2,"debug":["access-t0ken"]},)"
    R"({"pan_no":12345678,"symbol":7,"quantity":5.0,"traded_price":1e400,"X":{"PAN_NO":[1,"AB"]}},)"
    R"({"pan_no":"\ud800","order_date_time":"2026-11-20T09:15:00+05:30","quantity":null},)"
    R"({"order_date_time":"2026-11-20T09:15:00Z","expiry_date":"0001-01-01","symbol":"a long é symbol"},)"
    R"( {"pan_no":null,"client_id":"A","trade_no":"T1"}, {"client_id":"B","trade_no":"T1"} ] ,)"
    R"("session":"Bearer access\u002dt0ken",)"
    R"("status":"success","pan_no":"ABCDE1234F"} )";

}  // namespace

TEST_CASE("what arrives in pieces decodes to what it does at once") {
  std::string growing = R"({"status":"success","data":[)";
  for (std::size_t row = 0; row < 14; ++row) {
    const std::string text(row % 7 * 60 + row, 'x');
    growing += (row == 0 ? "" : ", ") + (R"({"symbol":")" + text + R"(","pan_no":"ABCDE1234F"})");
  }
  const std::vector<std::string> sent = {
      telling,
      growing + "]}",
      R"({"status":"error","message":"no","data":[{"symbol":"A"}]})",
      R"({"data":[{},],"status":1})",
      R"({"data":[{"a":tru}],"status":"success"})",
      R"({"data":[1,{"quantity":1}],"status":"success"})",
      R"({"data":[{"quantity":1,"quantity":2}],"status":"success"})",
      R"({"data":[{}],"data":[]})",
      R"({"data":[ ],"status":"success"})",
      R"({"code":12345,"data":[],"status":"success","time":1e+10})",
      R"({"data":12345,"status":"error","message":"no"})",
      R"({"data":-0.5})",
      R"({"data":[{"symbol":"A"}],"status":"success"} x)",
      R"([{"symbol":"A"},{"x":"B"}])",
      R"([])",
      R"(null)",
      R"("text")",
      R"(<html>)",
      "",
      " ",
      "{",
      R"({"data":{"a":[1]}})",
      "\xEF\xBB\xBF[{\"symbol\":\"A\"}]",
      "\xEF\xBB\xBF{\"data\":null,\"status\":\"success\"}",
      "\xFF\xFE{\0",
      R"([{"symbol":"\uD83D\uDE00"},{"symbol":"é"},{"symbol":)"};
  const auto echoed = tokens::search_for({"access-t0ken"});
  for (const std::string& body : sent) {
    CAPTURE(body);
    for (const Form form : {Form::book, Form::list}) {
      const Schema& schema = form == Form::book ? trade_schema : stock_schema;
      for (const int choice : {0, 1, 2, 3}) {
        const DecodeOptions options{
            .strict = choice % 2 == 1, .keep_personal_data = choice / 2 == 1, .tokens = echoed};
        const std::string expected = all_at_once(schema, form, body, options);
        for (std::size_t first = 0; first <= body.size(); ++first) {
          REQUIRE(in_pieces(schema, form, body, options, {first}) == expected);
        }
        for (const std::size_t piece : {1UL, 2UL, 3UL, 7UL, 50UL, 500UL}) {
          REQUIRE(in_pieces(schema, form, body, options, incremental::every(body, piece)) ==
                  expected);
        }
      }
    }
  }
}

TEST_CASE("decoding is nearly done when the last byte arrives") {
  constexpr std::int64_t step = Decoder::usual_step;
  const std::string body = bodies::body(trade_schema, 2000);
  Decoder decoder(trade_schema, Form::book, {});
  Buffer buffer;
  buffer.reserve(static_cast<std::int64_t>(body.size()));
  for (std::size_t at = 0; at < body.size(); at += 4096) {
    buffer.append(std::string_view(body).substr(at, 4096));
    decoder.advance(buffer);
    CHECK(decoder.passed() > buffer.size() - step - step / 2);  // a record may be cut short
  }
  CHECK(decoder.finish(std::move(buffer))->rows() == 2000);
}

TEST_CASE("a record of many steps is not read at each of them") {
  std::string body = R"({"status":"success","data":[{"symbol":")" + std::string(3'000'000, 'x');
  Decoder decoder(trade_schema, Form::book, {}, 64);
  Buffer buffer;
  for (std::size_t at = 0; at < body.size(); at += 64) {
    buffer.append(std::string_view(body).substr(at, 64));
    decoder.advance(buffer);  // 47,000 readings of up to 3 MB would take minutes
  }
  buffer.append(R"("}]})");
  CHECK(decoder.finish(std::move(buffer))->rows() == 1);
}
