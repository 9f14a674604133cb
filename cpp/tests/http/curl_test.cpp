// The real transport among threads, and what only a raw server shows. Requests, and what becomes of
// each fault, are proved from outside, by the tests of the clients.
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/calling.hpp"

using namespace calling;

TEST_CASE("F16 a reset after a complete body that no length delimits does no harm") {
  Server server([](Connection& connection) {
    connection.receive();
    connection.send("HTTP/1.1 200 OK\r\n\r\n" + std::string(loopback::empty_book));
    std::this_thread::sleep_for(milliseconds(20));
    connection.reset();
  });
  const auto client = client_of(server.url());
  CHECK(client->run(client->book(trade_schema)).table->rows() == 0);
}

TEST_CASE("F31 a stall on a kept connection is not taken for a stalled lookup") {
  Server server([](Connection& connection) {
    connection.receive();
    connection.send(loopback::response(loopback::empty_book));
    connection.receive();
    while (!connection.closed_within(milliseconds(20))) {
    }
  });
  const auto client = client_of(server.url());
  client->run(client->book(trade_schema));
  const Error error = error_of(*client, 0.2);
  CHECK(error.kind == ErrorKind::deadline);
  CHECK(says(error, "while waiting for the response"));
}

TEST_CASE("wake ends a pump from another thread") {
  const auto client = client_of("http://127.0.0.1:9");
  const auto engine = client->make_engine();
  engine->pump(steady_clock::now());  // takes the wake-up that opening it left behind
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(30));
    engine->wake();
  });
  const double took =
      seconds_for([&] { engine->pump(steady_clock::now() + std::chrono::seconds(5)); });
  other.join();
  CHECK(took < 1);
}

TEST_CASE("F103 eight threads share one client") {
  Server server(loopback::always(loopback::response(loopback::empty_book)));
  const auto client = client_of(server.url());
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 50; ++k) {
        if (k % 10 == i) client->set_token("canary-token-" + std::to_string(k));
        if (client->run(client->book(k % 2 == 0 ? trade_schema : order_schema)).status_code == 200)
          ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 400);
  CHECK(client->stats().calls == 400);
  CHECK(server.connections() <= 8);
}
