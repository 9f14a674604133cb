// Which failures are retried, after which delay, and what the final error says.
#include "client/engine.hpp"
#include "client/retry.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "support/engine_bench.hpp"

using namespace scripted;

TEST_CASE("a response is judged once and returned with its facts") {
  Bench bench;
  bench.script.reply = [](const Request&, int) { return response(200, "good"); };
  const Outcome outcome = bench.run(bench.call());
  CHECK(text(outcome) == "good");
  CHECK(outcome.status_code == 200);
  CHECK(outcome.attempts == 1);
  CHECK(outcome.elapsed == doctest::Approx(0.010));
  CHECK(outcome.received_at == bench.world.wall_micros);
  CHECK(bench.engine->idle());
}

TEST_CASE("F51 a burst of 503 is retried after full jitter of 0.25, 0.5 and 1 second") {
  Bench bench;
  bench.world.draws = {1.0, 0.5, 0.25};
  bench.script.reply = [](const Request&, int number) {
    return number < 3 ? response(503, "<html>busy</html>") : response(200, "good");
  };
  const Outcome outcome = bench.run(bench.call());
  CHECK(text(outcome) == "good");
  CHECK(outcome.attempts == 4);
  CHECK(bench.gaps() == std::vector<double>{10 + 250, 10 + 250, 10 + 250});
}

TEST_CASE("the fourth failure is final, and says what it is and how often it was tried") {
  Bench bench;
  bench.script.reply = [](const Request&, int) {
    return response(503, R"({"status":"error","message":"down for repair"})");
  };
  const Error error = bench.fail(bench.call());
  CHECK(error.kind == ErrorKind::server);
  CHECK(error.status_code == 503);
  CHECK(error.attempts == 4);
  CHECK(error.retryable);
  CHECK(error.service_message == "down for repair");
  CHECK(error.elapsed == doctest::Approx(0.04 + 0.125 + 0.25 + 0.5));
  CHECK(std::string(error.what()) ==
        "POST /api/v1/order/book: HTTP 503 Service Unavailable: down for repair "
        "(4 attempts in 0.915 s)");
  CHECK(std::string(error.help) == advice::try_later);
}

TEST_CASE("F44 F46 F62 statuses that will not pass are not retried") {
  struct Row {
    int status;
    ErrorKind kind;
  };
  const Row rows[] = {{400, ErrorKind::bad_request},    {401, ErrorKind::authentication},
                      {403, ErrorKind::authentication}, {404, ErrorKind::not_found},
                      {405, ErrorKind::bad_request},    {422, ErrorKind::bad_request},
                      {301, ErrorKind::status},         {501, ErrorKind::server},
                      {201, ErrorKind::status}};
  for (const Row& row : rows) {
    CAPTURE(row.status);
    Bench bench;
    bench.script.reply = [&](const Request&, int) { return response(row.status, "no"); };
    const Error error = bench.fail(bench.call());
    CHECK(error.kind == row.kind);
    CHECK_FALSE(error.retryable);
    CHECK(bench.script.sent.size() == 1);
    CHECK(error.body == "no");
  }
}

TEST_CASE("F47 F51 statuses that may pass are retried") {
  for (const int status : {408, 425, 429, 500, 502, 503, 504}) {
    CAPTURE(status);
    Bench bench;
    bench.script.reply = [&](const Request&, int number) {
      return number == 0 ? response(status, "") : response(200, "good");
    };
    CHECK(bench.run(bench.call()).attempts == 2);
  }
}

TEST_CASE("F1 F2 F6 transport failures are retried always, once or never") {
  for (const auto& [retry, attempts] :
       {std::pair(Retry::always, 4), std::pair(Retry::once, 2), std::pair(Retry::never, 1)}) {
    Bench bench;
    bench.script.reply = [wanted = retry](const Request&, int) {
      return failure(ErrorKind::connect, wanted);
    };
    const Error error = bench.fail(bench.call());
    CHECK(error.attempts == attempts);
    CHECK(error.retryable == (retry != Retry::never));
    CHECK(error.kind == ErrorKind::connect);
  }
}

TEST_CASE("F28 an empty body is tried once more and is a decode error then") {
  for (const int status : {200, 204}) {
    Bench bench;
    bench.script.reply = [&](const Request&, int) { return response(status, ""); };
    const Error error = bench.fail(bench.call());
    CHECK(error.kind == ErrorKind::decode);
    CHECK(error.attempts == 2);
  }
}

TEST_CASE("F16 F27 F128 a document that ends too early is a cut response") {
  for (const bool incomplete : {true, false}) {
    Bench bench;
    bench.script.reply = [&](const Request&, int) { return response(200, "[1,"); };
    Call call = bench.call();
    call.judge = [&](Response&, const Secrets&) -> std::shared_ptr<const void> {
      Error error(ErrorKind::decode, "the document ends too early at byte 3");
      error.incomplete = incomplete;
      error.offset = 3;
      error.body = "[1,";
      throw error;
    };
    const Error error = bench.fail(std::move(call));
    CHECK(error.kind == (incomplete ? ErrorKind::transport : ErrorKind::decode));
    CHECK(error.attempts == (incomplete ? 4 : 1));
    CHECK(error.retryable == incomplete);
    CHECK(std::string(error.what()).find("byte 3") != std::string::npos);
    CHECK(error.offset == 3);
    CHECK(error.body == "[1,");
  }
}

TEST_CASE("F48 Retry-After within the deadline is waited for, to the millisecond") {
  Bench bench;
  bench.script.reply = [](const Request&, int number) {
    return number == 0 ? refusal(429, "7") : response(200, "good");
  };
  CHECK(bench.run(bench.call()).attempts == 2);
  CHECK(bench.gaps() == std::vector<double>{10 + 7000});
}

TEST_CASE("F49 Retry-After as a date counts from the response's own Date") {
  Bench bench;
  bench.script.reply = [](const Request&, int number) {
    return number == 0
               ? refusal(503, "Wed, 21 Oct 2015 07:28:05 GMT", "Wed, 21 Oct 2015 07:28:00 GMT")
               : response(200, "good");
  };
  bench.run(bench.call());
  CHECK(bench.gaps() == std::vector<double>{10 + 5000});
}

TEST_CASE("F48 a Retry-After beyond 60 s or the deadline fails at once and is reported") {
  for (const auto& [value, timeout] : {std::pair("61", 300), std::pair("20", 15)}) {
    Bench bench;
    bench.script.reply = [sent = value](const Request&, int) { return refusal(429, sent); };
    const Error error = bench.fail(bench.call(seconds(timeout)));
    CHECK(error.kind == ErrorKind::rate_limit);
    CHECK(error.retry_after == std::stod(value));
    CHECK(error.attempts == 1);
    CHECK(error.elapsed == doctest::Approx(0.010));
  }
}

TEST_CASE("F50 a Retry-After that makes no sense leaves the back-off as it is") {
  for (const char* value : {"soon", "-5", "1e12", "99999999999999999999", "", "Wed, 99 Foo"}) {
    CAPTURE(value);
    Bench bench;
    bench.script.reply = [&](const Request&, int number) {
      return number == 0 ? refusal(429, value) : response(200, "good");
    };
    bench.run(bench.call());
    CHECK(bench.gaps() == std::vector<double>{10 + 125});
  }
}

TEST_CASE("one deadline covers attempts and back-off") {
  Bench bench;
  bench.script.reply = [](const Request&, int) { return response(200, "late", seconds(20)); };
  const Error error = bench.fail(bench.call(seconds(5)));
  CHECK(error.kind == ErrorKind::deadline);
  CHECK(error.retryable);
  CHECK(error.elapsed == doctest::Approx(5));
}

TEST_CASE("the deadline in a later attempt reports what happened before") {
  Bench bench;
  bench.script.reply = [](const Request&, int number) {
    return number == 0 ? response(503, "") : response(200, "late", seconds(60));
  };
  const Error error = bench.fail(bench.call(seconds(5)));
  CHECK(error.kind == ErrorKind::deadline);
  CHECK(error.attempts == 2);
  CHECK(error.elapsed == doctest::Approx(5));
  CHECK(std::string(error.what()).find("before that: HTTP 503") != std::string::npos);
}

TEST_CASE("a transport that misses the deadline is stopped 20 ms behind it") {
  Bench bench;
  bench.script.reply = [](const Request&, int) { return response(200, "", seconds(1)); };
  bench.open();
  Call call = bench.call(seconds(2));
  const CallId id = call.id;
  bench.script.reply = [&](const Request&, int) {
    bench.world.now -= seconds(10);  // the transport believes that it has ten seconds more
    Reply reply = response(200, "", seconds(11));
    return reply;
  };
  bench.engine->submit(std::move(call));
  bench.world.now += seconds(10);
  bench.engine->pump(bench.world.now + seconds(60));
  const auto outcome = bench.engine->take(id);
  REQUIRE(outcome);
  CHECK(outcome->error);
}

TEST_CASE("F45 a message that only repeats the status is shown once") {
  const auto message = [](const char* sent) {
    Response response;
    response.status = 401;
    response.body = Buffer(std::string(R"({"message":")") + sent + R"("})");
    const std::string text = detail::status_error(Request(), response, 0).what();
    return text.substr(0, text.find(';'));
  };
  CHECK(message("unauthorized") == "HTTP 401 Unauthorized");
  CHECK(message("Token expired") == "HTTP 401 Unauthorized: Token expired");
}
