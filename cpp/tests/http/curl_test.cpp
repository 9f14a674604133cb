// The real transport against a server that sends what each test scripts.
#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "support/calling.hpp"

using namespace calling;

TEST_CASE("the requests go out byte by byte as the service documents them") {
  std::vector<std::string> requests;
  std::string host;
  {
    Server server([&](Connection& connection) {
      while (true) {
        requests.push_back(connection.receive());
        if (requests.back().empty()) return;
        const bool search = requests.back().starts_with("GET");
        connection.send(loopback::response(search ? "[]" : loopback::empty_book));
      }
    });
    host = "127.0.0.1:" + std::to_string(server.port());
    const auto client = client_of(server.url());
    client->run(client->book(trade_schema));
    client->run(client->search("tata", 1, 10));
    client->run(client->book(order_schema));
    CHECK(server.connections() == 1);
    CHECK(client->stats().connections == 1);
    CHECK(client->stats().reused == 2);
    CHECK(client->stats().bytes_received > 0);
    client->close();
  }
  const std::string head = " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: tradingdata/test\r\n";
  const std::string book =
      head +
      "Content-Type: application/json\r\nAuthorization: Bearer canary-token-1\r\n"
      "Accept-Encoding: gzip\r\nContent-Length: 14\r\n\r\n{\"source\":\"N\"}";
  CHECK(requests[0] == "POST /api/v1/trade/book" + book);
  CHECK(requests[1] == "GET /api/v1/stocks?query=tata&page=1&limit=10" + head +
                           "accept: application/json\r\nContent-Type: application/json\r\n"
                           "Accept-Encoding: gzip\r\n\r\n");
  CHECK(requests[2] == "POST /api/v1/order/book" + book);
}

TEST_CASE("F1 F7 F8 no connection, no response, no HTTP") {
  int port = 0;
  {
    Server server([](Connection&) {});
    port = server.port();
  }
  const Error refused = error_of(*client_of("http://127.0.0.1:" + std::to_string(port)));
  CHECK(refused.kind == ErrorKind::connect);
  CHECK(refused.retryable);
  CHECK(says(refused, "cannot connect to 127.0.0.1"));

  const Error silent = error_after("", 2);
  CHECK(silent.kind == ErrorKind::transport);
  CHECK(silent.attempts == 2);

  const Error garbage = error_after("SSH-2.0-OpenSSH_9.2\r\n", 3);
  CHECK(garbage.kind == ErrorKind::transport);
  CHECK(garbage.attempts == 1);
  CHECK(says(garbage, "not HTTP"));
}

TEST_CASE("F6 http where https was expected is a TLS error") {
  Server server([](Connection& connection) {
    connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    connection.closed_within(milliseconds(1000));
  });
  const Error error = error_of(*client_of("https://127.0.0.1:" + std::to_string(server.port()), 3));
  CHECK(error.kind == ErrorKind::tls);
  CHECK(error.attempts == 1);
}

TEST_CASE("F14 a missing CA file is named") {
  Server server(loopback::always(""));
  const auto client = client_of("https://127.0.0.1:" + std::to_string(server.port()), 1,
                                [](ClientOptions& options) { options.ca_file = "/no/such.pem"; });
  const Error error = error_of(*client);
  CHECK(error.kind == ErrorKind::tls);
  CHECK(says(error, "/no/such.pem"));
  CHECK(std::string(error.help) == advice::ca_file);
}

TEST_CASE("F20 F21 F27 a cut body is never data, and is tried again") {
  for (const std::string framing :
       {"Content-Length: 60\r\n", "Transfer-Encoding: chunked\r\n", ""}) {
    CAPTURE(framing);
    const std::string chunk = framing.starts_with("T") ? "100\r\n" : "";
    const Error error =
        error_after("HTTP/1.1 200 OK\r\n" + framing + "\r\n" + chunk + R"({"data":[)", 2);
    CHECK(error.kind == ErrorKind::transport);
    CHECK(error.attempts == 2);
    CHECK(says(error, "incomplete body"));
  }
}

TEST_CASE(
    "F21 a chunked response without its last chunk is an error even if its JSON is complete") {
  const std::string body(loopback::empty_book);
  const Error error =
      error_after("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n32\r\n" + body + "\r\n");
  REQUIRE(body.size() == 0x32);
  CHECK(says(error, "incomplete body"));
}

TEST_CASE("F19 a reset inside the body is tried again") {
  Server server([](Connection& connection) {
    connection.receive();
    if (connection.number() == 0) {
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{");
      std::this_thread::sleep_for(milliseconds(20));
      connection.reset();
    } else {
      connection.send(loopback::response(loopback::empty_book));
    }
  });
  const auto client = client_of(server.url(), 2);
  CHECK(client->run(client->book(trade_schema)).attempts == 2);
}

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

TEST_CASE("F22 F24 F25 F33 F37 F38 responses that break the rules are refused") {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  for (const std::string& bytes :
       {ok + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
        ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        ok + "Content-Length: -1\r\n\r\n{}", ok + "X: " + std::string(150'000, 'x') + "\r\n\r\n",
        ok + "Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}",
        ok + "Content-Encoding: gzip, gzip\r\nContent-Length: 2\r\n\r\n{}"}) {
    CAPTURE(bytes.substr(0, 100));
    CHECK(error_after(bytes).kind == ErrorKind::transport);
  }
}

TEST_CASE("F23 F26 F29 F55 unusual but valid responses are accepted") {
  const std::string body(loopback::empty_book);
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  std::string flood;
  for (int i = 0; i < 500; ++i) flood += "HTTP/1.1 100 Continue\r\n\r\n";
  for (const std::string& bytes :
       {ok + "Content-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n32\r\n" + body +
            "\r\n0\r\n\r\n",
        loopback::response(body) + "HTTP/1.1 500 poison\r\n\r\n", flood + loopback::response(body),
        ok + "Content-Type: text/plain\r\n\r\n" + body}) {
    Server server(loopback::once(bytes));
    const auto client = client_of(server.url());
    for (int i = 0; i < 2; ++i) CHECK(client->run(client->book(trade_schema)).table->rows() == 0);
  }
}

TEST_CASE("F35 an endless body stops at the cap") {
  Server server([](Connection& connection) {
    connection.receive();
    connection.send("HTTP/1.1 200 OK\r\n\r\n");
    const std::string piece(65536, ' ');
    while (connection.send(piece)) {
    }
  });
  const auto client = client_of(server.url(), 3, [](ClientOptions& o) { o.max_body = 1 << 20; });
  const Error error = error_of(*client);
  CHECK(says(error, "larger than max_body"));
  CHECK(error.attempts == 1);
}

TEST_CASE("F31 F32 a stall or a drip ends at the deadline, within 100 ms") {
  for (const bool drips : {false, true}) {
    Server server([drips](Connection& connection) {
      connection.receive();
      if (drips) connection.send("HTTP/1.1 200 OK\r\n\r\n");
      while (!connection.closed_within(milliseconds(20))) {
        if (drips && !connection.send(" ")) return;
      }
    });
    const auto client = client_of(server.url(), 4);
    Error error(ErrorKind::closed, "");
    const double took = seconds_for([&] { error = error_of(*client, 0.3); });
    CHECK(error.kind == ErrorKind::deadline);
    CHECK(error.retryable);
    CHECK(says(error, drips ? "while reading the response" : "while waiting for the response"));
    CHECK(took > 0.29);
    CHECK(took < 0.4);
  }
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

TEST_CASE("F33 a header line that is too long is named") {
  const Error error =
      error_after("HTTP/1.1 200 OK\r\nX: " + std::string(150'000, 'x') + "\r\n\r\n");
  CHECK(says(error, "a header line"));
}

TEST_CASE("F62 F64 a redirect carries nothing anywhere") {
  Server other(loopback::always(loopback::response(loopback::empty_book)));
  for (const int status : {301, 302, 303, 307, 308}) {
    const Error error =
        error_after("HTTP/1.1 " + std::to_string(status) + " Moved\r\nLocation: " + other.url() +
                        "/x?token=1\r\nContent-Length: 0\r\n\r\n",
                    3);
    CHECK(error.kind == ErrorKind::status);
    CHECK(error.status_code == status);
    CHECK(error.attempts == 1);
    CHECK(says(error, other.url().c_str()));
    CHECK_FALSE(says(error, "token=1"));
  }
  CHECK(other.connections() == 0);
}

TEST_CASE("F69 F70 a kept connection that the server closed is replaced") {
  Server server([](Connection& connection) {
    connection.receive();
    connection.send(loopback::response(loopback::empty_book));  // and closes behind it
  });
  const auto client = client_of(server.url());
  for (int i = 0; i < 5; ++i) {
    CHECK(client->run(client->book(trade_schema)).attempts == 1);
    if (i % 2 == 0) std::this_thread::sleep_for(milliseconds(5));
  }
  CHECK(server.connections() == 5);
}

TEST_CASE("F66 a proxy is never used for loopback") {
  Server proxy(loopback::always(loopback::response(loopback::empty_book)));
  Server server(loopback::always(loopback::response(loopback::empty_book)));
  const auto client = client_of(server.url(), 1, [&](ClientOptions& o) { o.proxy = proxy.url(); });
  client->run(client->book(trade_schema));
  CHECK(proxy.connections() == 0);
}

TEST_CASE("F66 a proxy sees a CONNECT and never the token") {
  std::string seen;
  {
    Server proxy([&](Connection& connection) {
      seen += connection.receive();
      connection.send("HTTP/1.1 407 Who Are You\r\nContent-Length: 0\r\n\r\n");
    });
    const auto client =
        client_of("https://api.example.com", 3, [&](ClientOptions& o) { o.proxy = proxy.url(); });
    const Error error = error_of(*client);
    CHECK(error.kind == ErrorKind::connect);
    CHECK(error.attempts == 1);
    CHECK(says(error, "407"));
  }
  CHECK(seen.starts_with("CONNECT api.example.com:443 HTTP/1.1\r\n"));
  CHECK(seen.find("canary") == std::string::npos);
}
