// Searches of a client on a scripted transport.
#include "client/client.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <string>

#include "client/search.hpp"
#include "support/scripted.hpp"
#include "table/records.hpp"

using namespace scripted;

namespace {

struct Desk {
  World world;
  Script script{world};
  ClientOptions options;

  Desk() {
    options.base_url = "https://api.example.com";
    options.sources = world.sources();
    options.environment = [](const char*) { return std::optional<std::string>(); };
    options.transport = [this](const CurlOptions&) {
      return std::make_unique<ScriptedTransport>(script);
    };
  }

  std::shared_ptr<Client> client() { return std::make_shared<Client>(options); }
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

}  // namespace

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
