// How a search sends its pages as calls; which pages it requests is the pager's.
#include "client/search.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/scripted.hpp"

using namespace tradingdata;

namespace {

// A client of a service whose pages are always full.
struct Listing {
  scripted::World world;
  scripted::Script script{world};
  int codes = 0;

  Listing() {
    script.reply = [this](const Request&, int) { return scripted::response(200, page()); };
  }

  std::string page() {
    std::string text = "[";
    for (int row = 0; row < 2; ++row) {
      text += std::string(row > 0 ? "," : "") + R"({"co_code":)" + std::to_string(codes++) + "}";
    }
    return text + "]";
  }

  std::shared_ptr<Client> client() {
    ClientOptions options;
    options.base_url = "https://api.example.com";
    options.sources = world.sources();
    options.environment = [](const char*) { return std::optional<std::string>(); };
    options.transport = [this](const CurlOptions&) {
      return std::make_unique<scripted::ScriptedTransport>(script);
    };
    return std::make_shared<Client>(options);
  }

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
  SearchRun run(listing.client(), "tata", {2, 1, {}, 4}, 8.0);
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
  SearchRun run(listing.client(), "tata", {2, 1, {}, 1});
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
    REQUIRE(search.next());
    CHECK(static_cast<std::int64_t>(listing.script.sent.size()) == 1 + prefetch);
  }
}

TEST_CASE("calls in flight are surplus once the search has ended") {
  Listing listing;
  SearchRun run(listing.client(), "tata", {2, 1, 5, 4});
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
