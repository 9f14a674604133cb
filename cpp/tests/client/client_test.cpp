// The client on a scripted transport: requests, tokens, pooling, closing and searches.
#include "client/client.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>

#include "client/search.hpp"
#include "support/scripted.hpp"
#include "table/records.hpp"

using namespace scripted;

namespace {

constexpr const char* empty_book = R"({"data":[],"message":"Success","status":"success"})";

struct Desk {
  World world;
  Script script{world};
  ClientOptions options;
  std::vector<CurlOptions> opened;
  Request last;

  Desk() {
    options.base_url = "https://api.example.com/gate/";
    options.sources = world.sources();
    options.environment = [](const char*) { return std::optional<std::string>(); };
    options.transport = [this](const CurlOptions& curl) {
      opened.push_back(curl);
      return std::make_unique<ScriptedTransport>(script);
    };
    script.reply = [this](const Request& request, int) {
      last = request;
      return response(200, request.method == Method::post ? empty_book : "[]");
    };
  }

  std::shared_ptr<Client> client() {
    auto made = std::make_shared<Client>(options);
    made->set_token("canary-token-1");
    return made;
  }
};

// A page of the search's response: companies `first`, `first` + 1, ...
std::string stocks(int first, int count) {
  std::string text = "[";
  for (int i = first; i < first + count; ++i) {
    if (i > first) text += ",";
    text += R"({"type":"STK","co_code":)" + std::to_string(i) + R"(,"nsesymbol":"S)" +
            std::to_string(i) + R"(","extra":[)" + std::to_string(i) + "]}";
  }
  return text + "]";
}

std::int64_t parameter(const std::string& url, const std::string& name) {
  return std::stoll(url.substr(url.find(name + "=") + name.size() + 1));
}

ErrorKind kind_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind;
  }
  return ErrorKind::cancelled;  // means "nothing was thrown"
}

}  // namespace

TEST_CASE("the books are POSTed with the token, the search is a GET without it") {
  Desk desk;
  const auto client = desk.client();
  const Fetched fetched = client->run(client->book(trade_schema));
  CHECK(fetched.table->rows() == 0);
  CHECK(fetched.status_code == 200);
  CHECK(desk.last.url == "https://api.example.com/gate/api/v1/trade/book");
  CHECK(desk.last.headers == std::vector<std::string>{"Content-Type: application/json"});
  CHECK(desk.last.body == R"({"source":"N"})");
  CHECK(desk.last.token->reveal() == "canary-token-1");
  client->run(client->book(order_schema));
  CHECK(desk.last.url == "https://api.example.com/gate/api/v1/order/book");
  client->run(client->search("M&M \xe0\xa4\x9f", 2, 50));
  CHECK(desk.last.method == Method::get);
  CHECK(desk.last.url ==
        "https://api.example.com/gate/api/v1/stocks?query=M%26M%20%E0%A4%9F&page=2&limit=50");
  CHECK(desk.last.headers ==
        std::vector<std::string>{"accept: application/json", "Content-Type: application/json"});
  CHECK(desk.last.token == nullptr);
  CHECK(desk.last.body.empty());
}

TEST_CASE("without a token the books are refused before any request, and the search works") {
  Desk desk;
  const auto client = std::make_shared<Client>(desk.options);
  CHECK_FALSE(client->has_token());
  CHECK(kind_of([&] { client->book(trade_schema); }) == ErrorKind::configuration);
  CHECK(client->run(client->search("tata", 1, 10)).table->rows() == 0);
  CHECK(client->set_token("abcd1234"));
  CHECK_FALSE(client->set_token("abcd1234"));
  CHECK(client->set_token("efgh5678"));
  client->run(client->book(trade_schema));
  CHECK(desk.last.token->reveal() == "efgh5678");
  client->clear_token();
  CHECK(kind_of([&] { client->book(trade_schema); }) == ErrorKind::configuration);
}

TEST_CASE("F78 F79 arguments that no request can hold are refused") {
  Desk desk;
  const auto client = desk.client();
  CHECK(kind_of([&] { client->search("a", 0, 10); }) == ErrorKind::configuration);
  CHECK(kind_of([&] { client->search("a", 1, 0); }) == ErrorKind::configuration);
  CHECK(kind_of([&] { client->search(std::string_view("a\0b", 3), 1, 10); }) ==
        ErrorKind::configuration);
  CHECK(kind_of([&] { client->book(trade_schema, -1.0); }) == ErrorKind::configuration);
  CHECK(kind_of([&] { client->book(stock_schema); }) == ErrorKind::configuration);
  for (const auto& spoil : std::initializer_list<std::function<void(ClientOptions&)>>{
           [](ClientOptions& o) { o.timeout = 0; },
           [](ClientOptions& o) { o.connect_timeout = -1; },
           [](ClientOptions& o) { o.retry.attempts = 0; }, [](ClientOptions& o) { o.max_body = 0; },
           [](ClientOptions& o) { o.base_url = "http://example.com"; }}) {
    ClientOptions options = desk.options;
    spoil(options);
    CHECK(kind_of([&] { Client{options}; }) == ErrorKind::configuration);
  }
}

TEST_CASE("engines are used again, the last one first, and transports get what they need") {
  Desk desk;
  desk.options.ca_file = "/ca.pem";
  desk.options.proxy = "http://proxy:3128";
  const auto client = desk.client();
  for (int i = 0; i < 3; ++i) client->run(client->book(trade_schema));
  CHECK(desk.opened.size() == 1);
  CHECK(desk.opened[0].ca_file == "/ca.pem");
  CHECK(desk.opened[0].proxy == "http://proxy:3128");
  CHECK(desk.opened[0].host == "api.example.com");
  CHECK_FALSE(desk.opened[0].allow_http);
  {
    Lease one = client->lease(), two = client->lease();
    CHECK(desk.opened.size() == 2);
  }
  client->run(client->book(trade_schema));
  CHECK(desk.opened.size() == 2);
}

TEST_CASE("F105 a call is waited for in slices, and one that is dropped is cancelled") {
  Desk desk;
  desk.script.reply = [](const Request&, int) { return response(200, empty_book, seconds(10)); };
  const auto client = desk.client();
  const TimePoint before = desk.world.now;
  {
    BlockingCall call(client, client->book(trade_schema));
    for (int slice = 0; slice < 3; ++slice) CHECK_FALSE(call.wait());
  }
  CHECK(desk.world.now - before == milliseconds(150));
  CHECK(desk.script.cancelled == 1);
}

TEST_CASE("F106 back-off is sliced too, and a retry ends a slice early") {
  Desk desk;
  desk.script.reply = [](const Request&, int) { return response(503, ""); };
  const auto client = desk.client();
  BlockingCall call(client, client->book(trade_schema));
  CHECK_FALSE(call.wait());
  const RetryRecords retries = call.take_retries();
  REQUIRE(retries.size() == 1);
  CHECK(retries.front().delay == 0.125);
  const TimePoint before = desk.world.now;
  CHECK_FALSE(call.wait());
  CHECK(desk.world.now - before == milliseconds(50));
}

TEST_CASE("F109 a closed client refuses calls and ends those that wait; closing twice is fine") {
  Desk desk;
  desk.script.reply = [](const Request&, int) { return response(200, empty_book, seconds(10)); };
  const auto client = desk.client();
  BlockingCall call(client, client->book(trade_schema));
  CHECK_FALSE(call.wait());
  client->close();
  CHECK(kind_of([&] { call.wait(); }) == ErrorKind::closed);
  client->close();
  CHECK(kind_of([&] { client->book(trade_schema); }) == ErrorKind::closed);
  CHECK(kind_of([&] { client->lease(); }) == ErrorKind::closed);
}

TEST_CASE("an error envelope within 200 is a service error with the facts of the call") {
  Desk desk;
  desk.script.reply = [](const Request&, int) {
    return response(200, R"({"status":"error","message":"bad canary-token-1","data":[]})");
  };
  const auto client = desk.client();
  try {
    client->run(client->book(trade_schema));
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::service);
    CHECK(error.status_code == 200);
    CHECK(error.attempts == 1);
    CHECK(error.service_message == "bad <token>");
    CHECK(std::string(error.what()).find("canary") == std::string::npos);
  }
}

TEST_CASE("a search yields pages in order and requests the next while the caller works") {
  Desk desk;
  desk.script.reply = [](const Request& request, int) {
    const std::int64_t page = parameter(request.url, "page");
    return response(200, stocks(static_cast<int>((page - 1) * 10), page < 4    ? 10
                                                                   : page == 4 ? 3
                                                                               : 0));
  };
  const auto client = desk.client();
  Search search(client, "tata", {10, 1, {}, 2});
  std::int64_t rows = 0;
  std::size_t sent_before = 0;
  while (const auto page = search.next()) {
    CHECK(page->rows.rows.size() == static_cast<std::size_t>(page->fetched.table->rows()));
    rows += page->fetched.table->rows();
    if (page->rows.source.page < 4) CHECK(desk.script.sent.size() > sent_before);
    sent_before = desk.script.sent.size();
  }
  CHECK(rows == 33);
  CHECK(search.pager().end() == PagerEnd::empty_page);
  CHECK(desk.opened.size() == 1);
}

TEST_CASE("48 pages of 50 ms with prefetch 8 take well under a third of the time") {
  Desk desk;
  desk.script.reply = [](const Request& request, int) {
    const std::int64_t page = parameter(request.url, "page");
    return response(200, stocks(static_cast<int>((page - 1) * 10), page <= 48 ? 10 : 0),
                    milliseconds(50));
  };
  const auto client = desk.client();
  Search search(client, "tata", {10, 1, {}, 8});
  const TimePoint before = desk.world.now;
  while (search.next()) {
  }
  CHECK(to_seconds(desk.world.now - before) < 49 * 0.050 / 4);
}

TEST_CASE("F77 an error on page 3 comes after pages 1 and 2, and names its page") {
  Desk desk;
  desk.script.reply = [](const Request& request, int) {
    const std::int64_t page = parameter(request.url, "page");
    return page == 3 ? response(410, "")
                     : response(200, stocks(static_cast<int>((page - 1) * 10), 10));
  };
  const auto client = desk.client();
  Search search(client, "tata", {10, 1, {}, 4});
  CHECK(search.next()->rows.source.page == 1);
  CHECK(search.next()->rows.source.page == 2);
  try {
    search.next();
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::status);
    CHECK(error.page == 3);
  }
  CHECK_FALSE(search.next());
}

TEST_CASE("a page size of 100 that page 1 refuses becomes the service's own 10") {
  Desk desk;
  desk.script.reply = [](const Request& request, int) {
    if (parameter(request.url, "limit") > 10)
      return response(422, R"({"message":"limit too large"})");
    return response(200, stocks(0, parameter(request.url, "page") == 1 ? 5 : 0));
  };
  const auto client = desk.client();
  Search search(client, "tata", {});
  CHECK(search.next()->fetched.table->rows() == 5);
  CHECK_FALSE(search.next());
  CHECK(search.pager().page_size() == 10);
}

TEST_CASE("a prefetched page that timed out while the caller was away is requested again") {
  Desk desk;
  desk.options.timeout = 5;
  desk.script.reply = [](const Request& request, int) {
    return response(200, stocks(0, parameter(request.url, "page") == 1 ? 10 : 0));
  };
  const auto client = desk.client();
  Search search(client, "tata", {10, 1, {}, 1});
  CHECK(search.next());
  desk.world.now += seconds(600);
  CHECK_FALSE(search.next());
  CHECK(search.pager().end() == PagerEnd::empty_page);
}

TEST_CASE("a page that failed while the caller was away is requested again, once") {
  Desk desk;
  desk.options.timeout = 5;
  desk.script.reply = [](const Request& request, int) {
    if (parameter(request.url, "page") == 1) return response(200, stocks(0, 10));
    return response(200, stocks(0, 0), seconds(60));
  };
  const auto client = desk.client();
  Search search(client, "tata", {10, 1, {}, 1});
  CHECK(search.next());
  desk.world.now += seconds(600);
  const TimePoint before = desk.world.now;
  CHECK_THROWS_AS(search.next(), Error);
  CHECK(desk.script.sent.size() == 3);
  CHECK(to_seconds(desk.world.now - before) < 6);
}

TEST_CASE("prefetched pages leave the page in turn half of its time under the rate limit") {
  Desk desk;
  desk.options.timeout = 3;
  desk.options.rate_limit = std::make_shared<RateLimit>(1.0, 1);
  desk.script.reply = [](const Request& request, int) {
    const std::int64_t page = parameter(request.url, "page");
    return response(200, stocks(static_cast<int>((page - 1) * 10), page <= 12 ? 10 : 0),
                    milliseconds(1200));
  };
  const auto client = desk.client();
  Search search(client, "tata", {10, 1, {}, 12});
  std::int64_t pages = 0;
  while (search.next()) ++pages;
  CHECK(pages == 12);
}

TEST_CASE("a page that arrived is returned although the next cannot be requested") {
  Desk desk;
  desk.script.reply = [](const Request& request, int) {
    if (parameter(request.url, "page") == 2) throw std::bad_alloc();
    return response(200, stocks(0, 10));
  };
  const auto client = desk.client();
  Search search(client, "tata", {10, 1, {}, 1});
  CHECK(search.next()->rows.source.page == 1);
  CHECK(search.pager().page() == 2);
  CHECK_THROWS_AS(search.next(), std::bad_alloc);
  CHECK_FALSE(search.next());
}

TEST_CASE("without fetch-ahead nothing is sent until the next page is wanted") {
  Desk desk;
  desk.script.reply = [](const Request& request, int) {
    return response(200, stocks(static_cast<int>(parameter(request.url, "page") * 10), 10));
  };
  const auto client = desk.client();
  Search search(client, "tata", {10, 1, {}, 0});
  search.next();
  CHECK(desk.script.sent.size() == 1);
  search.next();
  CHECK(desk.script.sent.size() == 2);
  CHECK(desk.script.cancelled == 0);
}

TEST_CASE("breaking off a search cancels what is in flight and gives its engine back") {
  Desk desk;
  desk.script.reply = [](const Request& request, int) {
    return response(200, stocks(static_cast<int>(parameter(request.url, "page") * 10), 10),
                    seconds(1));
  };
  const auto client = desk.client();
  {
    Search search(client, "tata", {10, 1, {}, 4});
    search.next();
    search.next();  // two full pages: two more are in flight
    search.close();
    CHECK_FALSE(search.next());
  }
  CHECK(desk.script.cancelled == 2);
  client->run(client->search("x", 1, 10));
  CHECK(desk.opened.size() == 1);
}

TEST_CASE("rows count as identical by every value and unknown field") {
  const auto content = [](const char* text) {
    return std::string(page_content(*decode_list(stock_schema, Buffer(text), {})).content(0));
  };
  const std::string base = content(R"([{"co_code":1,"mcap":5.5,"isin":"A","x":1,"y":2}])");
  CHECK(base == content(R"([ {"y":2, "isin":"A","x":1,"mcap":5.5,"co_code":1} ])"));
  CHECK(base != content(R"([{"co_code":1,"mcap":5.6,"isin":"A","x":1,"y":2}])"));
  CHECK(base != content(R"([{"co_code":1,"mcap":5.5,"isin":"B","x":1,"y":2}])"));
  CHECK(base != content(R"([{"co_code":1,"mcap":5.5,"isin":"A","x":1,"y":3}])"));
  CHECK(base != content(R"([{"co_code":1,"mcap":5.5,"isin":"A","x":1}])"));
  CHECK(base != content(R"([{"co_code":1,"isin":"A","x":1,"y":2}])"));
}
