// The real transport among threads and processes. Requests, and what becomes of each fault, are
// proved from outside, by the tests of the clients.
#include <doctest/doctest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "http/curl_easy.hpp"
#include "http/http.hpp"
#include "support/failing_memory.hpp"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace tradingdata;
using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

constexpr TimeLimits limits{seconds(5), seconds(5)};

CurlOptions options() {
  CurlOptions options;
  options.allow_http = true;
  return options;
}

Request request() {
  Request request;
  request.url = "http://127.0.0.1:9";
  return request;
}

}  // namespace

TEST_CASE("a transport is woken from another thread while calls are given up") {
  const auto transport = make_curl_transport(options());
  std::jthread waker([&](const std::stop_token& done) {
    while (!done.stop_requested()) transport->wake();
  });
  const Request refused = request();
  std::vector<Arrival> arrivals;
  const auto before = steady_clock::now();
  for (CallId id = 1; id <= 50; ++id) {
    transport->pump(steady_clock::now() + seconds(5), arrivals);
    transport->start(id, refused, limits);
    transport->pump(steady_clock::now(), arrivals);
    transport->cancel(id);
  }
  CHECK(arrivals.size() <= 50);
  CHECK(steady_clock::now() - before < seconds(5));
}

TEST_CASE("a connection for which there is no memory is not remembered") {
  detail::OpenSockets open;
  failing_memory::fail_after(0);
  open.add(detail::Ends{}, 5);
  CHECK(failing_memory::stop());
  CHECK(open.find(detail::Ends{}) == nullptr);
}

#ifndef _WIN32
TEST_CASE("a forked child learns once that a call of its parent is lost, unless it cancels it") {
  const Request refused = request();
  for (const bool cancels : {false, true}) {
    const auto transport = make_curl_transport(options());
    transport->start(1, refused, limits);
    const pid_t child = fork();
    if (child == 0) {
      std::vector<Arrival> arrivals;
      transport->start(2, refused, limits);  // opens the child's own handle
      if (cancels) transport->cancel(1);
      for (int i = 0; i < 2; ++i) transport->pump(steady_clock::now(), arrivals);
      const auto lost = std::ranges::count(arrivals, CallId{1}, &Arrival::id);
      _exit(lost == (cancels ? 0 : 1) ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}
#endif
