// How a search sends its pages as calls, and when; which pages it requests is the pager's.
#include "client/search.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/decoding.hpp"
#include "support/scripted.hpp"
#include "table/records.hpp"

using namespace tradingdata;

namespace {

// A page of the search's response: companies `first`, `first` + 1, ...
std::string stocks(int first, int count) {
  std::string text = "[";
  for (int i = first; i < first + count; ++i) {
    text += (i > first ? ",{\"co_code\":" : "{\"co_code\":") + std::to_string(i) + "}";
  }
  return text + "]";
}

std::optional<SearchPage> next_page(Search& search) {
  std::optional<SearchPage> page;
  while (!page && !search.ended()) page = search.wait();
  return page;
}

std::int64_t parameter(const std::string& url, const std::string& name) {
  return std::stoll(url.substr(url.find(name + "=") + name.size() + 1));
}

// A client of a service whose pages are always full, unless a test says otherwise.
struct Listing {
  scripted::World world;
  scripted::Script script{world};
  ClientOptions options;
  int codes = 0;

  Listing() {
    options.base_url = "https://api.example.com";
    options.sources = world.sources();
    options.environment = [](const char*) { return std::optional<std::string>(); };
    options.transport = [this](const CurlOptions&) {
      return std::make_unique<scripted::ScriptedTransport>(script);
    };
    script.reply = [this](const Request&, int) { return scripted::response(200, page()); };
  }

  std::string page() { return stocks(std::exchange(codes, codes + 2), 2); }

  std::shared_ptr<Client> client() { return std::make_shared<Client>(options); }

  Outcome outcome_of(const Call& call) {
    Response response;
    response.status = 200;
    response.body = Buffer(page());
    Outcome outcome;
    outcome.id = call.id;
    outcome.result = call.judge(response, nullptr);
    return outcome;
  }
};

}  // namespace

TEST_CASE("only pages requested ahead leave half of their time to the page that is due") {
  Listing listing;
  Search run(listing.client(), "tata", {2, 1, {}, 4}, 8.0);
  std::vector<Call> calls = run.calls();
  while (calls.size() < 2) {
    REQUIRE(calls.size() == 1);
    CHECK(calls.front().start_by == TimePoint::max());
    run.deliver(listing.outcome_of(calls.front()));
    while (run.take()) {
    }
    calls = run.calls();
  }
  CHECK(calls[0].start_by == TimePoint::max());
  for (std::size_t at = 1; at < calls.size(); ++at) {
    CHECK(calls[at].start_by == listing.world.now + std::chrono::seconds(4));
  }
}

TEST_CASE("the outcome of another search's call changes nothing") {
  Listing listing;
  Search run(listing.client(), "tata", {2, 1, {}, 1});
  const std::vector<Call> calls = run.calls();
  Outcome other = listing.outcome_of(calls.front());
  other.id += 1000;
  run.deliver(other);
  CHECK_FALSE(run.take());
  run.deliver(listing.outcome_of(calls.front()));
  CHECK(run.take());
}

TEST_CASE("a page is requested ahead as soon as the one before it is taken, unless prefetch is 0") {
  for (const std::int64_t prefetch : {0, 1}) {
    CAPTURE(prefetch);
    Listing listing;
    Search search(listing.client(), "tata", {2, 1, {}, prefetch});
    REQUIRE(next_page(search));
    CHECK(static_cast<std::int64_t>(listing.script.sent.size()) == 1 + prefetch);
  }
}

TEST_CASE("calls in flight are surplus once the search has ended") {
  Listing listing;
  Search run(listing.client(), "tata", {2, 1, 5, 4});
  std::vector<CallId> sent;
  std::vector<Call> waiting;
  while (!run.pager().ended()) {
    CHECK(run.surplus().empty());
    for (Call& call : run.calls()) waiting.push_back(std::move(call));
    run.deliver(listing.outcome_of(waiting.front()));
    waiting.erase(waiting.begin());
    while (run.take()) {
    }
  }
  CHECK(run.surplus().size() == waiting.size());
  CHECK(run.surplus().empty());
  CHECK(run.calls().empty());
}

TEST_CASE("48 pages of 50 ms with prefetch 8 take well under a third of the time") {
  Listing listing;
  listing.script.reply = [](const Request& request, int) {
    const std::int64_t page = parameter(request.url, "page");
    return scripted::response(200, stocks(static_cast<int>((page - 1) * 10), page <= 48 ? 10 : 0),
                              std::chrono::milliseconds(50));
  };
  const auto client = listing.client();
  Search search(client, "tata", {10, 1, {}, 8});
  const TimePoint before = listing.world.now;
  while (next_page(search)) {
  }
  CHECK(to_seconds(listing.world.now - before) < 49 * 0.050 / 4);
}

TEST_CASE("a prefetched page that timed out while the caller was away is requested again") {
  Listing listing;
  listing.options.timeout = 5;
  listing.script.reply = [](const Request& request, int) {
    return scripted::response(200, stocks(0, parameter(request.url, "page") == 1 ? 10 : 0));
  };
  const auto client = listing.client();
  Search search(client, "tata", {10, 1, {}, 1});
  CHECK(next_page(search));
  listing.world.now += std::chrono::seconds(600);
  CHECK_FALSE(next_page(search));
  CHECK(search.pager().end() == PagerEnd::empty_page);
}

TEST_CASE("a page that failed while the caller was away is requested again, once") {
  Listing listing;
  listing.options.timeout = 5;
  listing.script.reply = [](const Request& request, int) {
    if (parameter(request.url, "page") == 1) return scripted::response(200, stocks(0, 10));
    return scripted::response(200, stocks(0, 0), std::chrono::seconds(60));
  };
  const auto client = listing.client();
  Search search(client, "tata", {10, 1, {}, 1});
  CHECK(next_page(search));
  listing.world.now += std::chrono::seconds(600);
  const TimePoint before = listing.world.now;
  CHECK_THROWS_AS(next_page(search), Error);
  CHECK(listing.script.sent.size() == 3);
  CHECK(to_seconds(listing.world.now - before) < 6);
}

TEST_CASE("prefetched pages leave the page in turn half of its time under the rate limit") {
  Listing listing;
  listing.options.timeout = 3;
  listing.options.rate_limit = std::make_shared<RateLimit>(1.0, 1);
  listing.script.reply = [](const Request& request, int) {
    const std::int64_t page = parameter(request.url, "page");
    return scripted::response(200, stocks(static_cast<int>((page - 1) * 10), page <= 12 ? 10 : 0),
                              std::chrono::milliseconds(1200));
  };
  const auto client = listing.client();
  Search search(client, "tata", {10, 1, {}, 12});
  std::int64_t pages = 0;
  while (next_page(search)) ++pages;
  CHECK(pages == 12);
}

TEST_CASE("a page that arrived is returned although the next cannot be requested") {
  Listing listing;
  listing.script.reply = [](const Request& request, int) {
    if (parameter(request.url, "page") == 2) throw std::bad_alloc();
    return scripted::response(200, stocks(0, 10));
  };
  const auto client = listing.client();
  Search search(client, "tata", {10, 1, {}, 1});
  CHECK(next_page(search)->rows.source.page == 1);
  CHECK(search.pager().page() == 2);
  CHECK_THROWS_AS(next_page(search), std::bad_alloc);
  CHECK_FALSE(next_page(search));
}

TEST_CASE("rows count as identical by every value and unknown field") {
  const auto content = [](const char* text) {
    return page_content(*decoding::list(text)).front().content;
  };
  const std::string base = content(R"([{"co_code":1,"mcap":5.5,"isin":"A","x":1,"y":2}])");
  CHECK(base == content(R"([ {"y":2, "isin":"A","x":1,"mcap":5.5,"co_code":1} ])"));
  CHECK(base != content(R"([{"co_code":1,"mcap":5.6,"isin":"A","x":1,"y":2}])"));
  CHECK(base != content(R"([{"co_code":1,"mcap":5.5,"isin":"B","x":1,"y":2}])"));
  CHECK(base != content(R"([{"co_code":1,"mcap":5.5,"isin":"A","x":1,"y":3}])"));
  CHECK(base != content(R"([{"co_code":1,"mcap":5.5,"isin":"A","x":1}])"));
  CHECK(base != content(R"([{"co_code":1,"isin":"A","x":1,"y":2}])"));
  const auto identity = [](const char* text) {
    return page_content(*decoding::list(text)).front().identity;
  };
  CHECK(identity(R"([{"mcap":5.5,"x":1}])") == identity(R"([{"mcap":5.6,"x":2}])"));
  CHECK(identity(R"([{"x":"a"}])") != identity(R"([{"x":"b"}])"));
}
