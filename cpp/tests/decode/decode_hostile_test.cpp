// Bodies made to hurt: deep, wide, endless or damaged; and memory that runs out anywhere.

#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <new>
#include <vector>

#include "export/json.hpp"
#include "support/bodies.hpp"
#include "support/decoding.hpp"
#include "support/failing_memory.hpp"
#include "table/rows.hpp"

using namespace tradingdata;
using namespace tradingdata::decoding;

namespace {

constexpr int million = 1'000'000;

std::string repeated(std::string_view text, int count) {
  std::string result;
  result.reserve(text.size() * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

std::string nested(int depth, char open = '[') {
  const std::string opening = open == '[' ? "[" : "{\"a\":";
  return repeated(opening, depth) + "1" +
         std::string(static_cast<std::size_t>(depth), open == '[' ? ']' : '}');
}

// A million of something must take seconds of the processor at most: anything quadratic takes
// hours.
class Quick {
 public:
  ~Quick() { CHECK(std::clock() - begin_ < 30 * CLOCKS_PER_SEC); }

 private:
  std::clock_t begin_ = std::clock();
};

std::string numbered(std::string_view before, std::string_view after, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    text += before;
    text += std::to_string(i);
    text += after;
  }
  return text;
}

}  // namespace

TEST_CASE("1,023 nested values are read, 1,024 are refused, a million do no harm") {
  const auto with_depth = [](int depth, char open) {
    // The envelope, its array and the record enclose the value.
    return bodies::envelope("[{\"extra\":" + nested(depth - 3, open) + "}]");
  };
  for (const char open : {'[', '{'}) {
    CHECK(book(with_depth(1023, open))->rows() == 1);
    const Error error = book_failure(with_depth(1024, open));
    CHECK(std::string(error.what()).find("nested too deep") != std::string::npos);
    CHECK(error.path == "$.data[0].extra");
    CHECK(book_failure(with_depth(million, open)).kind == ErrorKind::decode);
    CHECK(book_failure(repeated(open == '[' ? "[" : "{\"data\":", million)).kind ==
          ErrorKind::decode);
    CHECK(list("[{\"extra\":" + nested(1021, open) + "}]")->rows() == 1);
    CHECK_THROWS_AS(list("[{\"extra\":" + nested(1022, open) + "}]"), Error);
    CHECK(
        book("{\"data\":[],\"status\":\"success\",\"more\":" + nested(1022, open) + "}")->rows() ==
        0);
    CHECK_THROWS_AS(
        book("{\"data\":[],\"status\":\"success\",\"more\":" + nested(1023, open) + "}"), Error);
    // In the place of a known field, too.
    CHECK(book(bodies::envelope("[{\"symbol\":" + nested(1020, open) + "}]"))->rows() == 1);
    CHECK_THROWS_AS(book(bodies::envelope("[{\"symbol\":" + nested(1021, open) + "}]")), Error);
  }
}

TEST_CASE("a million of anything takes a short time") {
  const auto record = [](const std::string& pairs) {
    return bodies::envelope("[{" + pairs + "}]");
  };
  const auto with_members = [](const std::string& members) {
    return "{" + members + ",\"data\":[],\"status\":\"success\"}";
  };
  const std::string keys = numbered("\"k", "\":1", million / 2);
  const std::string lost =
      bodies::envelope("[" + repeated("{\"quantity\":\"x\"},", 100'000) + "{}]");
  struct Million {
    std::string body;
    std::size_t extras = 0;
    std::string path = "";  // of the refusal
  };
  std::string wider;  // records of ever more keys: the order would be learned again and again
  for (int i = 1; i <= 2000; ++i) wider += (i > 1 ? ",{" : "{") + numbered("\"k", "\":1", i) + "}";
  for (const auto& [body, extras, path] : std::vector<Million>{
           {record(keys + "," + keys), million / 2},
           {record(repeated("\"k\":1,", million - 1) + "\"k\":1"), 1},
           {record(repeated("\"symbol\":1,", million) + "\"k\":1"), 0, "$.data[0].symbol"},
           {record(repeated("\"symb\\u006fl\":1,", million) + "\"k\":1"), 0, "$.data[0].symbol"},
           {with_members(numbered("\"m", "\":[]", million))},
           {with_members(repeated("\"m\":{},", million) + "\"n\":1")},
           {with_members(repeated("\"data\":[],", million) + "\"n\":1"), 0, "$.data"},
           {bodies::envelope("[" + wider + "]"), 2000 * 2001 / 2},
           {bodies::envelope("[" + repeated("1,", million) + "1]"), 0, "$.data[0]"},
           {lost}}) {
    const Quick quick;
    CAPTURE(body.substr(0, 60));
    if (path.empty()) {
      CHECK(book(body)->extras().size() == extras);
    } else {
      CHECK(book_failure(body).path == path);
    }
  }
  const Decoded table = book(lost);
  CHECK(issue(*table, "quantity", Problem::not_integer)->count == 100'000);
  CHECK(issue(*table, "symbol", Problem::missing)->count == 100'001);
  CHECK(book_failure(lost, {.strict = true}).kind == ErrorKind::decode);
}

TEST_CASE("more records than their bytes can mean are refused before memory is") {
  const Quick quick;
  const Error error = list_failure("[" + repeated("{},", 3 * million) + "{}]");
  CHECK(error.kind == ErrorKind::decode);
  CHECK(std::string(error.what()).find("too many records") != std::string::npos);
}

TEST_CASE("small records first and large ones later, and the other way round") {
  auto records = bodies::records(trade_schema, 400);
  const std::string expected = contents(*book(bodies::book(records)));
  for (std::size_t i = 0; i < 200; ++i)
    bodies::value(records[i], "padding") = bodies::in_quotes(std::string(5000, 'p'));
  CHECK(book(bodies::book(records))->rows() == 400);
  std::reverse(records.begin(), records.end());
  CHECK(book(bodies::book(records))->rows() == 400);
  std::string tiny = "[" + repeated("{\"row_no\":1},", 5000);
  const Decoded table = book(bodies::envelope(tiny + bodies::list(records).substr(1)));
  CHECK(table->rows() == 5400);
  CHECK(cell(*table, "row_no", 4999) == "1");
  CHECK(cell(*table, "symbol", 5000) == cell(*book(bodies::book(records)), "symbol", 0));
}

TEST_CASE("texts, keys and numbers of megabytes") {
  const Quick quick;
  const std::string huge(5 * million, 'x');
  const std::string digits(5 * million, '7');
  const Decoded table = book(bodies::envelope(
      "[{\"symbol\":\"" + huge + "\",\"settlor\":\"\\n" + huge + "\",\"" + huge +
      "\":1,\"traded_price\":" + digits + ",\"trade_value\":0." + digits + ",\"tick_size\":1" +
      std::string(5 * million, '0') + ".0,\"quantity\":5." + std::string(5 * million, '0') + "}]"));
  CHECK(cell(*table, "symbol") == huge);
  CHECK(cell(*table, "settlor") == "\n" + huge);
  CHECK(table->extra_names()[0] == huge);
  CHECK(issue(*table, "traded_price", Problem::out_of_range));
  CHECK(cell(*table, "trade_value") == "0.77777777777777779");
  CHECK(issue(*table, "tick_size", Problem::out_of_range));
  CHECK(cell(*table, "quantity") == "5");
  CHECK(issue(*table, "traded_price", Problem::out_of_range)->raw.size() < 100);
}

// Every allocation fails once: the work ends in std::bad_alloc, and leaves nothing behind that
// harms the next.

namespace {

// Runs `work` with the first, the second, ... allocation failing, until none fails; `check` runs
// after each failure.
void fail_each(const std::function<void()>& work, const std::function<void()>& check) {
  for (int succeeding = 0;; ++succeeding) {
    REQUIRE(succeeding < 100'000);
    bool failed = false;
    failing_memory::fail_after(succeeding);
    try {
      work();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    failing_memory::stop();
    if (!failed) return;
    check();
  }
}

}  // namespace

TEST_CASE("a decode either succeeds or runs out of memory") {
  auto records = bodies::records(order_schema, 3);
  for (bodies::Record& record : records) {
    std::reverse(record.begin() + 1, record.end());
    record.emplace_back("not documented, and too long to lie in place", "\"its value\"");
  }
  const std::string body = bodies::book(records, bodies::spaced);
  const std::string expected = contents(*book(body, {}, order_schema));
  fail_each([&] { book(body, {}, order_schema); },
            [&] { CHECK(contents(*book(body, {}, order_schema)) == expected); });
}

TEST_CASE("what is made of a book either is made or runs out of memory") {
  const auto orders = [](const std::string& records) {
    return book(R"({"status": "success", "message": "", "data": [)" + records + "]}", {},
                order_schema);
  };
  const TablePtr a = orders(R"({"order_no": "1", "symbol": "a symbol of some length"},
                                {"order_no": "2", "new": {}, "status": "Pending"})");
  const TablePtr b = orders(R"({"order_no": "2", "new": [], "status": "Success"})");
  const Slice slices[] = {{a.get(), 0, 2}, {b.get(), 0, 1}};
  const int symbol = order_schema.find("symbol");
  const auto none = [] {};
  fail_each([&] { concat(slices); }, none);
  fail_each([&] { rows_as_json(slices[0]); }, none);
  fail_each([&] { export_json({.table = a, .stop = 2, .columns = {symbol}}, true, true); }, none);
}
