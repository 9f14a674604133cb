// The local port; the worker thread: submission, notification, closing and failures.
#include "client/port.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "support/calling.hpp"
#include "support/failing_memory.hpp"
#include "table/records.hpp"

using namespace calling;

namespace {

// Responds to nothing.
class NeverTransport final : public Transport {
 public:
  void start(CallId, const Request&, const TimeLimits&) override {}
  bool pump(TimePoint until, std::vector<Arrival>&) override {
    std::this_thread::sleep_until(until);
    return false;
  }
  void cancel(CallId) noexcept override {}
  void wake() noexcept override {}
};

// Submits calls and takes their outcomes with `take`.
void receive_many(Port& port, Client& client, const std::function<Events()>& take) {
  std::set<CallId> waiting;
  for (int i = 0; i < 50; ++i) {
    Call call = client.book(trade_schema);
    waiting.insert(call.id);
    port.submit(std::move(call));
  }
  while (!waiting.empty()) {
    for (Outcome& outcome : take().outcomes) {
      CHECK(waiting.erase(outcome.id) == 1);
      CHECK_FALSE(outcome.error);
      CHECK(outcome.table->rows() == 0);
    }
  }
}

}  // namespace

TEST_CASE("many calls in flight arrive for a thread that waits, until the worker is closed") {
  Server server(loopback::always(loopback::response(loopback::empty_book)));
  const auto client = client_of(server.url());
  Worker worker(client);
  receive_many(worker, *client, [&] { return worker.wait(milliseconds(5000)); });
  std::thread waiting([&] { worker.wait(std::chrono::hours(1)); });
  worker.close();
  worker.close();
  waiting.join();
  CHECK_THROWS_AS(worker.submit(client->book(trade_schema)), Error);
}

TEST_CASE("a local port carries its calls while somebody waits, and is reusable once closed") {
  Server server(loopback::always(loopback::response(loopback::empty_book)));
  const auto client = client_of(server.url());
  LocalPort port(client);
  CHECK(port.wait(milliseconds(0)).outcomes.empty());
  for (int round = 0; round < 2; ++round) {
    receive_many(port, *client, [&] { return port.wait(milliseconds(5000)); });
    port.close();
    port.close();
  }
  port.submit(client->book(trade_schema));
  client->close();
  CHECK_THROWS_AS(port.wait(milliseconds(0)), Error);
}

TEST_CASE("a second thread that uses a local port meanwhile gets an error") {
  Server server(loopback::always(loopback::response(loopback::empty_book)));
  const auto client = client_of(server.url(), 1, [](ClientOptions& options) {
    options.transport = [](const CurlOptions&) { return std::make_unique<NeverTransport>(); };
  });
  LocalPort port(client);
  port.submit(client->book(trade_schema));
  std::atomic<int> refused = 0;
  const auto wait = [&](milliseconds patience) {
    try {
      port.wait(patience);
    } catch (const Error&) {
      ++refused;
    }
  };
  std::thread waiting([&] {
    for (int i = 0; i < 20; ++i) wait(milliseconds(50));
  });
  for (int i = 0; i < 200 && refused == 0; ++i) wait(milliseconds(5));
  waiting.join();
  CHECK(refused > 0);
}

// A worker whose transport throws, and whose memory runs out: every call ends, and it lives.

namespace {

using Hook = std::function<void(int in_flight)>;

// libcurl's transport behind a hook, which runs on the worker's thread and may throw.
class HookedTransport final : public Transport {
 public:
  HookedTransport(const CurlOptions& options, Hook& before_pump)
      : inner_(make_curl_transport(options)), before_pump_(before_pump) {}

  void start(CallId id, const Request& request, const TimeLimits& limits) override {
    inner_->start(id, request, limits);
    ++in_flight_;
  }
  bool pump(TimePoint until, std::vector<Arrival>& arrivals) override {
    before_pump_(in_flight_);
    const bool woken = inner_->pump(until, arrivals);
    in_flight_ -= static_cast<int>(arrivals.size());
    return woken;
  }
  void cancel(CallId id) noexcept override {
    inner_->cancel(id);
    --in_flight_;
  }
  void wake() noexcept override { inner_->wake(); }

 private:
  std::unique_ptr<Transport> inner_;
  Hook& before_pump_;
  int in_flight_ = 0;
};

struct HookedWorker {
  Server server{loopback::always(loopback::response(loopback::empty_book))};
  Hook before_pump = [](int) {};
  std::shared_ptr<Client> client = client_of(server.url(), 1, [this](ClientOptions& options) {
    options.transport = [this](const CurlOptions& curl) {
      return std::make_unique<HookedTransport>(curl, before_pump);
    };
  });
  std::unique_ptr<Worker> worker;

  void open() { worker = std::make_unique<Worker>(client); }
  void submit() { worker->submit(client->book(trade_schema)); }

  Outcomes outcomes(std::size_t count) {
    Outcomes result;
    for (int i = 0; i < 50 && result.size() < count; ++i) {
      Events events = worker->wait(milliseconds(100));
      result.splice(result.end(), events.outcomes);
    }
    return result;
  }
};

}  // namespace

TEST_CASE("a worker lives on whatever its transport throws") {
  for (const std::exception_ptr& thrown : failing_memory::exceptions) {
    HookedWorker hooked;
    std::atomic<bool> throws = true;
    hooked.before_pump = [&](int in_flight) {
      if (throws && in_flight > 0) std::rethrow_exception(thrown);
    };
    hooked.open();
    hooked.submit();
    const Outcomes ended = hooked.outcomes(1);
    REQUIRE(ended.size() == 1);
    CHECK(ended.front().error);
    throws = false;
    hooked.submit();
    const Outcomes good = hooked.outcomes(1);
    REQUIRE(good.size() == 1);
    CHECK_FALSE(good.front().error);
  }
}

TEST_CASE("a worker loses no call whichever allocation fails on its thread") {
  std::atomic<bool> failed = true;
  int failures = 0;
  for (; failed; ++failures) {
    CAPTURE(failures);
    HookedWorker hooked;
    bool failing = false;
    // From the first pump with a call in flight, which submits another one, until there is none:
    // that is starting, settling, publishing and taking orders.
    hooked.before_pump = [&](int in_flight) {
      if (in_flight > 0 && !std::exchange(failing, true)) {
        hooked.submit();
        failing_memory::fail_after(failures);
      } else if (in_flight == 0 && failing) {
        if (!failing_memory::stop()) failed = false;
      }
    };
    hooked.open();
    hooked.submit();
    REQUIRE(hooked.outcomes(2).size() == 2);
    hooked.submit();
    CHECK(hooked.outcomes(1).size() == 1);
    hooked.worker->close();
  }
  CHECK(failures > 20);
}
