// The real transport among threads. Requests, and what becomes of each fault, are proved from
// outside, by the tests of the clients.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdio>
#include <random>
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
  CHECK(client->stats().calls == 400);
  CHECK(server.connections() <= 8);
}

TEST_CASE("a date in the usual form, or one byte off it, is that of libcurl for other forms") {
  const char* const months[] = {"Jan", "Feb", "Apr", "Jun", "Dec", "anF", "Foo"};
  const char* const weekdays[] = {"Mon", "Sun", "onT", "Foo"};
  constexpr int years[] = {0, 1582, 1600, 1900, 1969, 1970, 2000, 2023, 2024, 2100, 9999};
  std::mt19937 random(1);
  const auto below = [&](std::size_t limit) { return static_cast<int>(random() % limit); };
  int read = 0;
  for (int i = 0; i < 100'000; ++i) {
    char text[40];
    std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT",
                  weekdays[below(std::size(weekdays))], below(33), months[below(std::size(months))],
                  years[below(std::size(years))], below(26), below(62), below(62));
    std::string date = text;
    if (below(4) == 0) date[random() % date.size()] = "0 :9aGM,-"[below(9)];
    CAPTURE(date);
    const std::optional<std::int64_t> expected = parse_http_date(" " + date);
    REQUIRE(parse_http_date(date) == expected);
    read += expected.has_value();
  }
  CHECK(read > 1000);
}
