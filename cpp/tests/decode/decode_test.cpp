// What a refusal says and where; which bodies are refused is compared with Python in
// tests/records/test_decoding.py.
#include <doctest/doctest.h>

#include "support/bodies.hpp"
#include "support/decoding.hpp"

using namespace tradingdata;
using namespace tradingdata::decoding;

TEST_CASE("every prefix of a book is refused as incomplete, of every record and layout") {
  for (const Schema* schema : record_schemas) {
    for (const bodies::Layout& layout : {bodies::compact, bodies::indented}) {
      const std::string whole = bodies::body(*schema, 2, layout);
      for (std::size_t size = 0; size < whole.size(); ++size) {
        const Error error = failure([&] { decode(*schema, whole.substr(0, size)); });
        if (error.kind != ErrorKind::decode || !error.incomplete ||
            error.offset != static_cast<std::int64_t>(size)) {
          FAIL("cut at " << size << ": " << error.what());
        }
      }
      CHECK(decode(*schema, whole)->rows() == 2);
    }
  }
}

TEST_CASE("what is malformed before it is cut is not incomplete") {
  for (const std::string bad : {R"({"data":[{"a":tru )", R"({"data":[{"a":01)", R"({"data":]})",
                                R"([1]x)", "{\"data\":\"\xFF"}) {
    CHECK_FALSE(book_failure(bad).incomplete);
  }
  const std::string lost = R"({"data":[{"quantity":"NA"}],"status":"success")";
  CHECK(book_failure(lost, {.strict = true}).incomplete);  // before it is called lost
}

TEST_CASE("a day is never taken from bytes that do not say it") {
  for (const char* field : {"expiry_date", "exch_trade_time"}) {
    for (const char* rest : {"\"", " 10:04:05\""}) {
      const std::string value = std::string(11, '\0') + rest;
      const std::string body = "{\"" + std::string(field) + "\":" + value + "}";
      CHECK(book_failure(bodies::envelope("[" + body + "]")).kind == ErrorKind::decode);
    }
  }
}

TEST_CASE("UTF-16 and UTF-32 are errors that say so") {
  const std::string_view text = "{\"data\"";
  std::string little;
  std::string big;
  for (const char c : text) {
    little += {c, '\0'};
    big += {'\0', c};
  }
  for (std::string body :
       {little, big, "\xFF\xFE" + little, "\xFE\xFF" + big, std::string("{\0\0\0", 4)}) {
    const Error error = book_failure(body);
    CHECK(std::string(error.what()).find("UTF-16") != std::string::npos);
    CHECK(error.offset == 0);
  }
}

TEST_CASE("a web page is an error that says so") {
  for (std::string page : {"<!DOCTYPE html><html></html>", "\n<html>", "<?xml version=\"1.0\"?>"}) {
    const Error error = book_failure(page);
    CHECK(error.kind == ErrorKind::decode);
    CHECK(std::string(error.what()).find("web page") != std::string::npos);
    CHECK(list_failure(page).kind == ErrorKind::decode);
  }
}

TEST_CASE("JSON that is not the envelope is an error that names its path") {
  const auto path_of = [](std::string_view body) {
    const Error error = book_failure(body);
    CHECK(error.kind == ErrorKind::decode);
    CHECK_FALSE(error.incomplete);
    return error.path;
  };
  for (std::string other : {"[]", "null", "\"ok\"", "1", "true", "[{}]"})
    CHECK(path_of(other) == "$");
  CHECK(path_of("{}") == "$.status");
  CHECK(path_of(R"({"data":[]})") == "$.status");
  CHECK(path_of(R"({"data":[],"status":null})") == "$.status");
  CHECK(path_of(R"({"data":[],"status":200})") == "$.status");
  CHECK(path_of(R"({"data":[],"status":["success"]})") == "$.status");
  CHECK(path_of(R"({"status":"success"})") == "$.data");
  CHECK(path_of(R"({"status":"success","Data":[]})") == "$.data");
  CHECK(path_of(R"({"status":"success","data":{"a":[]}})") == "$.data");
  CHECK(path_of(R"({"data":[],"status":"success","d\u0061ta":[]})") == "$.data");
  CHECK(path_of(R"({"data":[{},1,{},3],"status":"success"})") == "$.data[1]");
  CHECK(list_failure("[1]").path == "$[0]");
  CHECK(failure([] { decode_book(trade_schema, Buffer(), {}); }).incomplete);
}

TEST_CASE("any status but success is the service's error, whatever data there is") {
  for (std::string data : {"[]", "[1,2]", "[{\"quantity\":\"x\",\"quantity\":1}]"}) {
    const Error error = book_failure(
        "{\"data\":" + data + ",\"message\":\"Invalid token\",\"status\":\"\"}", {.strict = true});
    CHECK(error.kind == ErrorKind::service);
    CHECK(error.service_message == "Invalid token");
    CHECK(std::string(error.what()).find("Invalid token") != std::string::npos);
  }
  CHECK(list_failure(R"({"status":500,"message":"no"})").service_message == "no");
  CHECK(book_failure(R"({"status":"error","message":null})").service_message == "");
  CHECK(book_failure(R"({"status":"error","message":"account ABCDE1234F is locked"})")
            .service_message == "account ABXXXXXX4F is locked");
}

TEST_CASE("an error names the field and the byte") {
  const std::string body = bodies::envelope(R"([{"symbol":"A"},{"symbol":"B","quantity":tru}])");
  const Error error = book_failure(body);
  CHECK(error.path == "$.data[1].quantity");
  CHECK(error.offset == static_cast<std::int64_t>(body.find("tru") + 3));
  CHECK(std::string(error.what()).find("$.data[1].quantity") != std::string::npos);
  CHECK(book_failure(bodies::envelope(R"([{"a\u0062c":{"d":[}}])")).path == "$.data[0].abc");
  CHECK(book_failure(bodies::envelope(R"([{"symbol":"A" "quantity":1}])")).path == "$.data[0]");
  CHECK(book_failure(bodies::envelope(R"([{"symbol":"A",quantity:1}])")).path == "$.data[0]");
  CHECK(book_failure(bodies::envelope(R"([{"symbol":"A"} {}])")).path == "$.data[0]");
  CHECK(book_failure(bodies::envelope(R"([1,{"symbol":}])")).path == "$.data[1].symbol");
  CHECK(book_failure(bodies::envelope("[{\"" + std::string(5000, 'k') + "\":}]")).path.size() <
        200);
}

TEST_CASE("the service's message is found in an error's body, and never throws") {
  CHECK(service_message(R"({"message":"Token expired","status":"error"})") == "Token expired");
  CHECK(service_message("\xEF\xBB\xBF{\"message\":\"x\"}") == "x");
  for (std::string other : {"", "{}", "[]", "<html>", R"({"message":)", R"({"message":5})", "null",
                            R"({"message":"x")"}) {
    CHECK(service_message(other) == "");
  }
}

TEST_CASE("an error has the head of the response, redacted and capped") {
  const std::string whole = bodies::body(trade_schema, 20);
  const Error error = book_failure(whole.substr(0, whole.size() - 5));
  CHECK(error.body.substr(0, 9) == "{\"data\":[");
  CHECK(error.body.size() < 600);
}

TEST_CASE("a body beyond 2 GiB is refused" * doctest::skip()) {  // takes 2 GiB of memory
  Buffer body;
  body.resize((1LL << 31) - 1);
  CHECK(failure([&] { decode_book(trade_schema, std::move(body), {}); }).offset.has_value());
  body.resize(1LL << 31);
  const Error error = failure([&] { decode_book(trade_schema, std::move(body), {}); });
  CHECK(error.kind == ErrorKind::decode);
  CHECK(std::string(error.what()).find("2 GiB") != std::string::npos);
}
