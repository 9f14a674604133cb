// The real transport among threads, forks, cancellation and the process's limits.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/search.hpp"
#include "support/calling.hpp"

using namespace calling;

TEST_CASE("a cancelled call's connection is closed at once") {
  std::atomic<bool> closed = false;
  Server server([&](Connection& connection) {
    connection.receive();
    closed = connection.closed_within(milliseconds(2000));
  });
  const auto client = client_of(server.url());
  const double took = seconds_for([&] {
    BlockingCall call(client, client->book(trade_schema));
    CHECK_FALSE(call.wait());
  });
  CHECK(took < 0.1);
  while (!closed) std::this_thread::sleep_for(milliseconds(1));
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

TEST_CASE("F102 a forked child uses its own connection and leaves the parent's intact" *
          doctest::skip(!platform::has_fork)) {
  Server server(loopback::always(loopback::response(loopback::empty_book)));
  const auto client = client_of(server.url());
  client->run(client->book(trade_schema));
  const int code = platform::exit_code_of_child([&] {
    try {
      for (int i = 0; i < 3; ++i) client->run(client->book(trade_schema));
      return client->stats().connections == 2 ? 0 : 2;
    } catch (...) {
      return 1;
    }
  });
  CHECK(code == 0);
  for (int i = 0; i < 3; ++i) client->run(client->book(trade_schema));
  CHECK(client->stats().connections == 1);
  CHECK(server.connections() == 2);
}

TEST_CASE("F108 once the process ends, waits end and no call begins" *
          doctest::skip(!platform::has_fork)) {
  Server server([](Connection& connection) {
    connection.receive();
    connection.closed_within(milliseconds(5000));
  });
  const auto client = client_of(server.url());
  const int exit_code = platform::exit_code_of_child([&] {  // since it is for good
    BlockingCall call(client, client->book(trade_schema));
    if (call.wait()) return 1;
    end_all_calls(std::chrono::seconds(5));
    const auto ends = [](const auto& work) {
      try {
        work();
        return false;
      } catch (const Error& error) {
        return error.kind == ErrorKind::closed;
      }
    };
    return ends([&] { call.wait(); }) && ends([&] { client->book(trade_schema); }) ? 0 : 2;
  });
  CHECK(exit_code == 0);
}

TEST_CASE("F114 no file descriptor left is a connect error, and passes" *
          doctest::skip(!platform::has_descriptor_limit)) {
  Server server(loopback::always(loopback::response(loopback::empty_book)));
  const auto fresh = client_of(server.url()), used = client_of(server.url());
  {
    const Lease lease = used->lease();
  }
  {
    const platform::NoDescriptors limit;
    const Error no_engine = error_of(*fresh);
    const Error no_socket = error_of(*used);
    CHECK(no_engine.kind == ErrorKind::connect);
    CHECK(no_socket.kind == ErrorKind::connect);
  }
  CHECK(fresh->run(fresh->book(trade_schema)).status_code == 200);
  CHECK(used->run(used->book(trade_schema)).status_code == 200);
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

TEST_CASE("a search over real connections fetches ahead") {
  Server server([](Connection& connection) {
    while (true) {
      const std::string request = connection.receive();
      if (request.empty()) return;
      const int page = std::stoi(request.substr(request.find("page=") + 5));
      std::this_thread::sleep_for(milliseconds(20));
      std::string body = "[";
      for (int i = 0; page <= 12 && i < 10; ++i) {
        body +=
            std::string(i > 0 ? "," : "") + R"({"co_code":)" + std::to_string(page * 10 + i) + "}";
      }
      connection.send(loopback::response(body + "]"));
    }
  });
  const auto client = client_of(server.url());
  Search search(client, "tata", {10, 1, {}, 6});
  std::int64_t rows = 0;
  const double took = seconds_for([&] {
    while (const auto page = search.next()) rows += page->fetched.table->rows();
  });
  CHECK(rows == 120);
  CHECK(took < 13 * 0.020 * 0.8);
}
