// The worker thread: submission, notification, closing and forks.
#include "client/worker.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <thread>

#include "support/loopback.hpp"
#include "table/records.hpp"

using namespace tradingdata;
using loopback::Connection;
using loopback::Server;
using std::chrono::milliseconds;

namespace {

std::shared_ptr<Client> client_of(const Server& server, int attempts = 1) {
  ClientOptions options;
  options.base_url = server.url();
  options.retry.attempts = attempts;
  auto client = std::make_shared<Client>(options);
  client->set_token("canary-token-1");
  return client;
}

void stall(Connection& connection) {
  connection.receive();
  connection.closed_within(milliseconds(10'000));
}

bool signalled(const Worker& worker, milliseconds patience) {
  return platform::readable(static_cast<platform::Socket>(worker.notification_fd()), patience);
}

// Submits calls and takes their outcomes with `take`.
void receive_many(Worker& worker, Client& client, const std::function<Events()>& take) {
  std::set<CallId> waiting;
  for (int i = 0; i < 50; ++i) {
    Call call = client.book(trade_schema);
    waiting.insert(call.id);
    worker.submit(std::move(call));
  }
  while (!waiting.empty()) {
    for (Outcome& outcome : take().outcomes) {
      CHECK(waiting.erase(outcome.id) == 1);
      CHECK(fetched(std::move(outcome)).table->rows() == 0);
    }
  }
}

}  // namespace

TEST_CASE("many calls in flight arrive, and the descriptor signals them" *
          doctest::skip(!platform::watches_descriptors)) {
  Server server(loopback::always(loopback::response(loopback::empty_book)));
  const auto client = client_of(server);
  Worker worker(client);
  CHECK_FALSE(signalled(worker, milliseconds(0)));
  receive_many(worker, *client, [&] {
    REQUIRE(signalled(worker, milliseconds(5000)));
    return worker.take();
  });
  CHECK_FALSE(signalled(worker, milliseconds(0)));
}

TEST_CASE("F104 many calls in flight arrive for a thread that waits, until the worker is closed") {
  Server server(loopback::always(loopback::response(loopback::empty_book)));
  const auto client = client_of(server);
  Worker worker(client);
  receive_many(worker, *client, [&] { return worker.wait(milliseconds(5000)); });
  std::thread waiting([&] { worker.wait(std::chrono::hours(1)); });
  worker.close();
  worker.close();
  waiting.join();
  CHECK_THROWS_AS(worker.submit(client->book(trade_schema)), Error);
}

TEST_CASE("F116 a cancelled call closes its connection and gives no outcome") {
  std::atomic<int> closed = 0;
  Server server([&](Connection& connection) {
    connection.receive();
    if (connection.closed_within(milliseconds(5000))) ++closed;
  });
  const auto client = client_of(server);
  Worker worker(client);
  Call call = client->book(trade_schema);
  const CallId id = call.id;
  worker.submit(std::move(call));
  while (server.connections() == 0) std::this_thread::sleep_for(milliseconds(1));
  worker.cancel(id);
  while (closed == 0) std::this_thread::sleep_for(milliseconds(1));
  CHECK(worker.wait(milliseconds(20)).outcomes.empty());
}

TEST_CASE("F108 F117 a worker with calls in flight ends without waiting for them") {
  Server server(stall);
  const auto client = client_of(server);
  const auto before = std::chrono::steady_clock::now();
  {
    Worker worker(client);
    for (int i = 0; i < 5; ++i) worker.submit(client->book(trade_schema));
    while (server.connections() < 5) std::this_thread::sleep_for(milliseconds(1));
  }
  CHECK(to_seconds(std::chrono::steady_clock::now() - before) < 2);
}

TEST_CASE("closing the client ends what its worker has in flight") {
  Server server(stall);
  const auto client = client_of(server);
  Worker worker(client);
  worker.submit(client->book(trade_schema));
  while (server.connections() == 0) std::this_thread::sleep_for(milliseconds(1));
  client->close();
  Events events = worker.wait(milliseconds(5000));
  REQUIRE(events.outcomes.size() == 1);
  try {
    fetched(std::move(events.outcomes.front()));
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::closed);
  }
}

TEST_CASE("retries are reported while the call continues") {
  Server server([](Connection& connection) {
    connection.receive();
    if (connection.number() > 0) connection.send(loopback::response(loopback::empty_book));
  });
  const auto client = client_of(server, 2);
  Worker worker(client);
  worker.submit(client->book(trade_schema));
  Events events = worker.wait(milliseconds(5000));
  REQUIRE(events.retries.size() == 1);
  CHECK(events.outcomes.empty());
  events = worker.wait(milliseconds(5000));
  REQUIRE(events.outcomes.size() == 1);
  CHECK(fetched(std::move(events.outcomes.front())).attempts == 2);
}

TEST_CASE("F102 the child's copy of a worker refuses calls and is destroyed silently" *
          doctest::skip(!platform::has_fork)) {
  Server server(loopback::always(loopback::response(loopback::empty_book)));
  const auto client = client_of(server);
  auto worker = std::make_unique<Worker>(client);
  const int exit_code = platform::exit_code_of_child([&] {
    int code = 1;
    try {
      worker->submit(client->book(trade_schema));
    } catch (const Error& error) {
      code = error.kind == ErrorKind::closed ? 0 : 2;
    }
    worker->close();
    worker.reset();
    return code;
  });
  CHECK(exit_code == 0);
  worker->submit(client->book(trade_schema));
  CHECK(worker->wait(milliseconds(5000)).outcomes.size() == 1);
}
