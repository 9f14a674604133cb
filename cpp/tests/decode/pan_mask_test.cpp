// What is personal is masked while it is decoded: in the column, in the kept body, in issues and
// errors, however it is spelled.
#include <doctest/doctest.h>

#include "support/bodies.hpp"
#include "support/decoding.hpp"

using namespace tradingdata;
using namespace tradingdata::decoding;

namespace {

constexpr std::string_view secret = "ABCDE1234F";

std::string with_pan(std::string_view value, std::string_view key = "pan_no") {
  auto records = bodies::records(trade_schema, 3);
  for (auto& record : records) {
    for (auto& pair : record) {
      if (pair.first == "pan_no") pair = {std::string(key), std::string(value)};
    }
  }
  return bodies::book(records);
}

// Nothing of it may be left: not as sent, not with its escapes resolved.
bool shows(std::string_view text, std::string_view hidden) {
  return text.find(hidden) != text.npos;
}

bool anywhere(const Table& table, std::string_view hidden) {
  bool found = false;
  for (const Buffer& buffer : table.buffers()) found = found || shows(buffer.view(), hidden);
  for (const Issue& issue : table.issues())
    found = found || shows(issue.raw, hidden) || shows(issue.field, hidden);
  return found || shows(contents(table), hidden);
}

}  // namespace

TEST_CASE(
    "an account number is masked in the column and in the body, which stays as long as it was") {
  const std::string body = with_pan("\"ABCDE1234F\"");
  const Decoded table = book(body);
  CHECK(table->masked());
  CHECK(cell(*table, "pan_no", 2) == "ABXXXXXX4F");
  CHECK_FALSE(anywhere(*table, "CDE123"));
  std::string expected = body;
  for (std::size_t at; (at = expected.find("CDE123")) != std::string::npos;)
    expected.replace(at, 6, "XXXXXX");
  CHECK(table->buffers()[0].view() == expected);
}

TEST_CASE("the kept body decodes to the same table, whatever it contained") {
  for (std::string_view value : {R"("ABCDE1234F")",
                                 R"("\u0041BCDE1234F")",
                                 R"("ABCDE\u0031234F")",
                                 R"("")",
                                 R"("ABCDE1234")",
                                 R"("ABCDE 1234F")",
                                 R"("abcde1234f")",
                                 R"("a\"b")",
                                 R"("\\")",
                                 R"("\ud800secret")",
                                 "\"\xE0\xA4\x9F\xE0\xA4\xBE\"",
                                 R"("a text of more than twelve bytes")",
                                 "1234567890",
                                 "-12345.678e9",
                                 "7",
                                 "-5",
                                 "77",
                                 "777",
                                 "null",
                                 "true",
                                 "false",
                                 "[]",
                                 "{}",
                                 "[7]",
                                 R"(["ABCDE1234F"])",
                                 R"({"pan":"ABCDE1234F"})",
                                 R"({"a":[1,2,{"b":"ABCDE1234F"}]})"}) {
    for (std::string_view key : {"pan_no", "p\\u0061n_no", "\\u0070\\u0061\\u006e_no"}) {
      CAPTURE(value);
      const std::string body = with_pan(value, key);
      const Decoded table = book(body);
      CHECK(table->buffers()[0].size() == static_cast<std::int64_t>(body.size()));
      const Decoded again = book(table->buffers()[0].view());
      CHECK(contents(*again) == contents(*table));
      CHECK(again->buffers()[0].view() == table->buffers()[0].view());
      for (std::string_view part : {"CDE123", "CDE1", "cde1", "E1234", "E 1234F", "secret",
                                    "1234567890", "12345.", "777", "pan\"", "a text"}) {
        CHECK_FALSE(anywhere(*table, part));
      }
    }
  }
}

TEST_CASE("values of other shapes are hidden completely") {
  CHECK(cell(*book(with_pan(R"("ABCDE1234")")), "pan_no") == "XXXXXXXXX");
  CHECK(cell(*book(with_pan(R"("\u0041BCDE1234F")")), "pan_no") == "ABXXXXXX4F");
  CHECK(cell(*book(with_pan(R"("")")), "pan_no") == "");
  CHECK(cell(*book(with_pan("null")), "pan_no") == "null");
  const Decoded number = book(with_pan("1234567890"));
  CHECK(cell(*number, "pan_no") == "XXXXXXXX");
  CHECK(issue(*number, "pan_no", Problem::text_as_number)->raw == "");
  const Decoded object = book(with_pan(R"({"pan":"ABCDE1234F"})"));
  CHECK(cell(*object, "pan_no") == "null");
  CHECK(issue(*object, "pan_no", Problem::not_text)->count == 3);
}

TEST_CASE("personal data is kept only when asked for, and issues do not show it even then") {
  const Decoded table = book(with_pan(R"("ABCDE1234F")"), {.keep_personal_data = true});
  CHECK_FALSE(table->masked());
  CHECK(cell(*table, "pan_no") == secret);
  CHECK(shows(table->buffers()[0].view(), secret));
  const Decoded odd = book(with_pan("1234567890"), {.keep_personal_data = true});
  CHECK(cell(*odd, "pan_no") == "1234567890");
  CHECK(issue(*odd, "pan_no", Problem::text_as_number)->raw == "");
}

TEST_CASE("it is masked in every order of keys and of records of both books") {
  for (const Schema* schema : {&trade_schema, &order_schema}) {
    auto records = bodies::records(*schema, 30);
    bodies::Random random(2);
    for (auto& record : records) std::shuffle(record.begin(), record.end(), random);
    const Decoded table = book(bodies::book(records, bodies::spaced), {}, *schema);
    CHECK_FALSE(anywhere(*table, "CDE123"));
    CHECK(cell(*table, "pan_no", 29) == "ABXXXXXX4F");
  }
}

TEST_CASE("no error shows an account number") {
  const auto check = [](const std::string& body, const DecodeOptions& options = {}) {
    const Error error = book_failure(body, options);
    for (std::string_view part : {"CDE123", "cde123", "98765", "hidden"}) {
      CHECK_FALSE(shows(error.what(), part));
      CHECK_FALSE(shows(error.path, part));
      CHECK_FALSE(shows(error.body, part));
      CHECK_FALSE(shows(error.service_message, part));
    }
  };
  for (std::string_view key : {"pan_no", "p\\u0061n_no"}) {
    for (std::string_view value :
         {R"("ABCDE1234F")", R"("\u0041BC\u0044E1234F")", "9876543210", R"("hidden text")",
          R"(["hidden","9876543210"])", R"({"a":"hidden}"})"}) {
      const std::string pair = std::string("\"").append(key).append("\":").append(value);
      check("{\"data\":[{" + pair + ",\"symbol\":tru}]}");
      check("{\"data\":[{" + pair + "}]");
      check("{\"data\":[{" + pair.substr(0, pair.size() - 1));
      check("{\"data\":[{\"symbol\":01," + pair + "}]}");
      check("{\"data\":[{" + pair + "," + pair + "}],\"status\":\"success\"}");
      check("{\"data\":[{" + pair + "}],\"status\":\"success\"}",
            {.strict = true, .keep_personal_data = true});
      check("{" + pair + "}");
      check("[" + pair + "]");
    }
  }
  check(R"({"status":"error","message":"PAN ABCDE1234F or \u0041BCDE1234F"})");
  check(R"({"data":[{"ABCDE1234F":tru}]})");
  check("pan is ABCDE1234F");
}
