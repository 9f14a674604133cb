// The real transport among threads. Requests, and what becomes of each fault, are proved from
// outside, by the tests of the clients.
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "client/port.hpp"
#include "support/calling.hpp"

using namespace calling;

TEST_CASE("wake ends a pump from another thread") {
  const auto client = client_of("http://127.0.0.1:9");
  const auto engine = client->make_engine();
  engine->pump(steady_clock::now());  // takes the wake-up that opening it left behind
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(30));
    engine->wake();
  });
  const auto before = steady_clock::now();
  engine->pump(before + std::chrono::seconds(5));
  other.join();
  CHECK(steady_clock::now() - before < std::chrono::seconds(1));
}

TEST_CASE("eight threads share one client") {
  Server server(loopback::always(loopback::response(loopback::empty_book)));
  const auto client = client_of(server.url());
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 50; ++k) {
        if (k % 10 == i) client->set_token("canary-token-" + std::to_string(k));
        LocalPort port(client);
        port.submit(client->book(k % 2 == 0 ? trade_schema : order_schema));
        Outcomes outcomes;
        while (outcomes.empty()) outcomes = port.wait(slice_of_wait).outcomes;
        if (outcomes.front().status_code == 200) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 400);
  CHECK(server.connections() <= 8);
}
