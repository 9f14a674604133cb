// The document, the envelope and the list: what is taken for a response, and what is not.
#include <doctest/doctest.h>

#include "support/bodies.hpp"
#include "support/cases.hpp"
#include "support/decoding.hpp"

using namespace tradingdata;
using namespace tradingdata::decoding;

namespace {

// A sound book with a hole where a JSON value belongs, at each kind of place.
std::vector<std::string> places() {
  std::vector<bodies::Record> records = bodies::records(trade_schema, 3);
  std::vector<std::string> made;
  const auto add = [&](std::size_t at, const std::string& name, bool first) {
    auto changed = records;
    auto& record = changed[at];
    if (first) {
      record.insert(record.begin(), {name, "%"});
    } else {
      bodies::value(record, name) = "%";
    }
    made.push_back(bodies::book(changed));
  };
  for (const std::size_t at : {0u, 2u}) {
    add(at, "unknown", true);
    for (const char* name : {"unknown", "traded_price", "symbol", "quantity", "expiry_date",
                             "pan_no", "order_date_time"}) {
      add(at, name, false);
    }
  }
  made.push_back(R"({"data":[],"message":%,"status":"success"})");
  made.push_back(R"({"data":[],"message":"","status":"success","more":%})");
  made.push_back(R"({"more":%,"data":[],"message":"","status":"success"})");
  made.push_back(R"({"status":"success","data":[],"more":[{"a":[0,%]}]})");
  return made;
}

std::string filled(std::string place, std::string_view with) {
  return place.replace(place.find('%'), 1, with);
}

const std::vector<std::string> malformed = cases(
    "|tru|truex|True|nul|None|undefined|NaN|Infinity|-Infinity|-|+1|01|-01|1.|.5|1e|1e+|0x1|"
    "1_0|--1|1.5.5|1 2|'a'|\"a|a\"|\"\\x\"|\"\\u12\"|\"\\u12g4\"|\"\n\"|\"\t\"|\"\xFF\"|"
    "\"\xC0\x80\"|\"\xED\xA0\x80\"|\"\xF4\x90\x80\x80\"|[|]|[1|[1,]|[,1]|[1 2]|[1;2]|{|{\"a\"}|"
    "{\"a\":}|{\"a\":1,}|{a:1}|{'a':1}|{\"a\" 1}|{,}|{\"a\":1 \"b\":2}|{1:1}|{\"a\":1]|[1}|"
    "/**/1|1//|#|1,|\"a\"\"b\"|\uFEFF1");

const std::vector<std::string> wellformed = cases(
    "true|false|null|0|-0|1|-1.5e-10|1e400|123456789012345678901234567890|\"\"|\"a\\u0000b\"|"
    "\"\\ud800\"|\"\\ud83d\\udcc8\"|\"\x7F\"|\"\xF0\x9F\x93\x88\"|[]|[ ]|{}|{ }|"
    "[1,[2,{\"a\":[]}]]|{\"a\":1,\"a\":2}| \t\r\n1 |[1 , 2 ]|{ \"a\" : 1 }");

}  // namespace

TEST_CASE("malformed JSON is refused at every place") {
  for (const std::string& place : places()) {
    for (const std::string& bad : malformed) {
      CAPTURE(place.substr(0, 60));
      CAPTURE(bad);
      const Error error = book_failure(filled(place, bad));
      CHECK(error.kind == ErrorKind::decode);
      CHECK(error.offset.has_value());
      CHECK_FALSE(error.path.empty());
    }
  }
}

TEST_CASE("well-formed JSON of any kind costs no more than its value") {
  for (const std::string& place : places()) {
    for (const std::string& good : wellformed) {
      CAPTURE(place.substr(0, 60));
      CAPTURE(good);
      const Decoded table = book(filled(place, good));
      CHECK((table->rows() == 3 || table->rows() == 0));
    }
  }
}

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
}

TEST_CASE("only space may follow the document") {
  const std::string sound = bodies::body(trade_schema, 1);
  for (std::string tail : {"x", "{}", "]", "}", ",", "\"", "0", "//", "null"}) {
    CHECK(book_failure(sound + tail).kind == ErrorKind::decode);
    CHECK(list_failure("[]" + tail).kind == ErrorKind::decode);
  }
  CHECK(book_failure(sound + std::string(1, '\0')).offset ==
        static_cast<std::int64_t>(sound.size()));
  CHECK(book_failure(sound + sound).offset == static_cast<std::int64_t>(sound.size()));
  CHECK(book(sound + "\r\n")->rows() == 1);
  CHECK(book(" \t\n" + sound + "  \n\n\t ")->rows() == 1);
}

TEST_CASE("a byte order mark is skipped, once and only in front") {
  const std::string mark = "\xEF\xBB\xBF";
  const std::string sound = bodies::body(trade_schema, 1);
  CHECK(book(mark + sound)->rows() == 1);
  CHECK(list(mark + "[]")->rows() == 0);
  CHECK(book_failure(mark + mark + sound).offset == 3);
  CHECK(book_failure(" " + mark + sound).kind == ErrorKind::decode);
  CHECK(book_failure(sound + mark).kind == ErrorKind::decode);
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

TEST_CASE("a response without content is not an empty book") {
  for (std::string body : {"", " ", "\r\n", "\xEF\xBB\xBF"}) {
    CHECK(book_failure(body).kind == ErrorKind::decode);
    CHECK(book_failure(body).incomplete);
    CHECK(list_failure(body).kind == ErrorKind::decode);
  }
  CHECK(failure([] { decode_book(trade_schema, Buffer(), {}); }).kind == ErrorKind::decode);
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
  for (std::string data : {"{}", "\"\"", "0", "false", "{\"a\":[]}"}) {
    CHECK(path_of("{\"status\":\"success\",\"data\":" + data + "}") == "$.data");
  }
}

TEST_CASE("any status but success is the service's error, whatever data there is") {
  for (std::string status :
       {"error", "failed", "Error", "FAILURE", "", "succes", "success ", "successful"}) {
    for (std::string data :
         {"[]", "null", "{}", "[1,2]", "[{\"quantity\":\"x\",\"quantity\":1}]"}) {
      const Error error = failure([&] {
        book("{\"data\":" + data + ",\"message\":\"Invalid token\",\"status\":\"" + status + "\"}",
             {.strict = true});
      });
      CHECK(error.kind == ErrorKind::service);
      CHECK(error.service_message == "Invalid token");
      CHECK(std::string(error.what()).find("Invalid token") != std::string::npos);
    }
  }
  CHECK(book_failure(R"({"status":"error"})").kind == ErrorKind::service);
  CHECK(book_failure(R"({"status":"error","message":null})").service_message == "");
  CHECK(book_failure(R"({"st\u0061tus":"error"})").kind == ErrorKind::service);
  CHECK(book_failure(R"({"status":"error")").kind == ErrorKind::decode);
  CHECK(book_failure(R"({"status":"error","data":[01]})").kind == ErrorKind::decode);
  CHECK(book_failure(R"({"status":"error","message":"account ABCDE1234F is locked"})")
            .service_message == "account ABXXXXXX4F is locked");
}

TEST_CASE("success is success in any case, and the order of members does not matter") {
  for (std::string status : {"success", "Success", "SUCCESS", "\\u0073uccess"}) {
    const Decoded table = book("{\"status\":\"" + status +
                               "\",\"more\":{},\"message\":\"all \\u0067ood\",\"data\":[]}");
    CHECK(table->rows() == 0);
    CHECK(table->holds_body());
  }
}

TEST_CASE("success with data null is an empty book") {
  const Decoded table = book(R"({"data":null,"message":"Success","status":"success"})");
  CHECK(table->rows() == 0);
  CHECK(table->issues().empty());
}

TEST_CASE("a member that occurs twice in the envelope is an error") {
  for (std::string name : {"data", "status", "message"}) {
    for (std::string again : {"\"error\"", "1", "null", "[]", "{}"}) {
      const Error error = book_failure(R"({"data":[],"status":"success","message":"", ")" + name +
                                       "\":" + again + "}");
      CHECK(error.kind == ErrorKind::decode);
      CHECK(error.path == "$." + name);
    }
  }
  CHECK(book(R"({"data":[],"status":"success","more":1,"more":2})")->rows() == 0);
}

TEST_CASE("an element that is no record is an error that names it") {
  for (std::string odd : {"1", "null", "\"a\"", "[]", "[{}]", "true"}) {
    const std::string record = bodies::json(bodies::records(trade_schema, 1)[0]);
    const Error error =
        book_failure(bodies::envelope("[" + record + "," + odd + "," + record + ",3]"));
    CHECK(error.kind == ErrorKind::decode);
    CHECK(error.path == "$.data[1]");
    CHECK(list_failure("[" + odd + "]").path == "$[0]");
  }
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

TEST_CASE("a search response is a list, null for no hits, or the service's error") {
  CHECK(decode(stock_schema, bodies::body(stock_schema, 3))->rows() == 3);
  CHECK(list("[]")->rows() == 0);
  CHECK(list(" null ")->rows() == 0);
  CHECK(list_failure("nul").incomplete);
  CHECK(list_failure(R"({"status":"error","message":"no"})").kind == ErrorKind::service);
  CHECK(list_failure(R"({"status":500,"message":"no"})").service_message == "no");
  CHECK(list_failure(R"({"message":"no"})").kind == ErrorKind::service);
  for (std::string other :
       {"{}", R"({"status":"success","data":[]})", "\"\"", "1", R"({"data":[]})"}) {
    const Error error = list_failure(other);
    CHECK(error.kind == ErrorKind::decode);
    CHECK(error.path == "$");
  }
  CHECK(list_failure(R"({"status":"error")").incomplete);
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

TEST_CASE("records of a schema made at run time are decoded, with optional fields") {
  auto owned = std::make_shared<OwnedSchema>(
      "Row", std::vector<OwnedSchema::Column>{
                 {.name = "a_name_longer_than_sixteen_bytes", .kind = Kind::text},
                 {.name = "client_id", .kind = Kind::integer},
                 {.name = "more", .kind = Kind::integer, .traits = {.optional = true}}});
  const Decoded table =
      book(R"({"data":[{"a_name_longer_than_sixteen_bytes":"x","client_id":1},)"
           R"({"more":7,"a_name_longer_than_sixteen_bytes":"y"}],"message":"","status":"success"})",
           {}, owned->schema());
  owned.reset();  // the table keeps it
  REQUIRE(table->rows() == 2);
  CHECK(table->text(0, 1) == "y");
  CHECK_FALSE(table->valid(2, 0));
  CHECK(table->column(2).as<std::int64_t>()[1] == 7);
  CHECK(table->issues().size() == 1);
  CHECK(issue(*table, "client_id", Problem::missing));
}
