// The local port; the worker thread: submission, notification, closing and failures.
#include "client/port.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "support/failing_memory.hpp"
#include "table/records.hpp"

using namespace tradingdata;
using std::chrono::milliseconds;

namespace {

using Hook = std::function<void(int in_flight)>;

// Responds to each call with an empty book in the next pump, before which a hook runs that may
// throw.
class PromptTransport final : public Transport {
 public:
  explicit PromptTransport(Hook& before_pump) : before_pump_(before_pump) {}

  void start(CallId id, const Request&, const TimeLimits&) override { in_flight_.insert(id); }

  bool pump(TimePoint until, std::vector<Arrival>& arrivals) override {
    before_pump_(static_cast<int>(in_flight_.size()));
    for (const CallId id : in_flight_) {
      Response response;
      response.status = 200;
      response.body = Buffer(R"({"data":[],"message":"Success","status":"success"})");
      arrivals.push_back({id, std::move(response)});
    }
    std::unique_lock lock(mutex_);
    if (in_flight_.empty()) woke_.wait_until(lock, until, [this] { return woken_; });
    in_flight_.clear();
    return std::exchange(woken_, false);
  }

  void cancel(CallId id) noexcept override { in_flight_.erase(id); }

  void wake() noexcept override {
    const std::scoped_lock lock(mutex_);
    woken_ = true;
    woke_.notify_one();
  }

 private:
  Hook& before_pump_;
  std::set<CallId> in_flight_;
  std::mutex mutex_;  // guards the two below
  std::condition_variable woke_;
  bool woken_ = false;
};

struct Desk {
  Hook before_pump = [](int) {};
  std::shared_ptr<Client> client = [this] {
    ClientOptions options;
    options.base_url = "https://api.example.test";
    options.transport = [this](const CurlOptions&) {
      return std::make_unique<PromptTransport>(before_pump);
    };
    auto made = std::make_shared<Client>(options);
    made->set_token("canary-token-1");
    return made;
  }();

  Call call() const { return client->book(trade_schema); }
};

// The outcomes of that many calls, which were submitted.
Outcomes outcomes(Port& port, std::size_t count) {
  Outcomes result;
  for (int i = 0; i < 50 && result.size() < count; ++i) {
    Events events = port.wait(milliseconds(100));
    result.splice(result.end(), events.outcomes);
  }
  return result;
}

void carry_many(Port& port, const Desk& desk) {
  std::set<CallId> waiting;
  for (int i = 0; i < 50; ++i) waiting.insert(port.submit(desk.call()));
  for (const Outcome& outcome : outcomes(port, waiting.size())) {
    CHECK(waiting.erase(outcome.id) == 1);
    CHECK_FALSE(outcome.error);
    CHECK(outcome.table->rows() == 0);
  }
  CHECK(waiting.empty());
}

}  // namespace

TEST_CASE("many calls in flight arrive for a thread that waits, until the worker is closed") {
  const Desk desk;
  Worker worker(desk.client);
  carry_many(worker, desk);
  std::thread waiting([&] { worker.wait(std::chrono::hours(1)); });
  worker.close();
  worker.close();
  waiting.join();
  CHECK_THROWS_AS(worker.submit(desk.call()), Error);
}

TEST_CASE("a local port carries its calls while somebody waits, and is reusable once closed") {
  const Desk desk;
  LocalPort port(desk.client);
  CHECK(port.wait(milliseconds(0)).outcomes.empty());
  for (int round = 0; round < 2; ++round) {
    carry_many(port, desk);
    port.close();
    port.close();
  }
  port.submit(desk.call());
  desk.client->close();
  CHECK_THROWS_AS(port.wait(milliseconds(0)), Error);
}

TEST_CASE("eight threads share one client, and its token changes meanwhile") {
  const Desk desk;
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 50; ++k) {
        if (k % 10 == i) desk.client->set_token("canary-token-" + std::to_string(k));
        LocalPort port(desk.client);
        port.submit(desk.call());
        if (outcomes(port, 1).front().status_code == 200) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 400);
}

TEST_CASE("a second thread that uses a local port meanwhile gets an error") {
  const Desk desk;
  LocalPort port(desk.client);
  port.submit(desk.call());
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

TEST_CASE("a worker lives on whatever its transport throws") {
  for (const std::exception_ptr& thrown : failing_memory::exceptions) {
    Desk desk;
    std::atomic<bool> throws = true;
    desk.before_pump = [&](int) {
      if (throws) std::rethrow_exception(thrown);
    };
    Worker worker(desk.client);
    worker.submit(desk.call());
    const Outcomes ended = outcomes(worker, 1);
    REQUIRE(ended.size() == 1);
    CHECK(ended.front().error);
    throws = false;
    worker.submit(desk.call());
    const Outcomes good = outcomes(worker, 1);
    REQUIRE(good.size() == 1);
    CHECK_FALSE(good.front().error);
  }
}

TEST_CASE("a worker loses no call whichever allocation fails on its thread") {
  std::atomic<bool> failed = true;
  int failures = 0;
  for (; failed; ++failures) {
    CAPTURE(failures);
    Desk desk;
    Worker* submitting = nullptr;
    bool failing = false;
    // From the first pump with a call in flight, which submits another one, until there is none:
    // that is starting, settling, publishing and taking orders.
    desk.before_pump = [&](int in_flight) {
      if (in_flight > 0 && !std::exchange(failing, true)) {
        submitting->submit(desk.call());
        failing_memory::fail_after(failures);
      } else if (in_flight == 0 && failing) {
        if (!failing_memory::stop()) failed = false;
      }
    };
    Worker worker(desk.client);
    submitting = &worker;
    worker.submit(desk.call());
    REQUIRE(outcomes(worker, 2).size() == 2);
    worker.submit(desk.call());
    CHECK(outcomes(worker, 1).size() == 1);
    worker.close();
  }
  CHECK(failures > 20);
}
