// A name server that never responds. The resolver of this program is replaced for one name; that
// works where the dynamic linker lets a program's own function come first.
#ifdef __linux__

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <netdb.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "client/client.hpp"
#include "support/loopback.hpp"

namespace {

std::atomic<bool> stalling = false;
std::atomic<int> stalled = 0;

}  // namespace

extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                           addrinfo** result) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "getaddrinfo"));
  if (node == nullptr || std::strcmp(node, "stalled.test") != 0)
    return real(node, service, hints, result);
  ++stalled;
  while (stalling) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  --stalled;
  return EAI_AGAIN;
}

using namespace tradingdata;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

struct Stall {
  Stall() { stalling = true; }
  ~Stall() {
    stalling = false;
    while (stalled > 0) std::this_thread::sleep_for(milliseconds(5));
    std::this_thread::sleep_for(milliseconds(50));  // the lookups' threads go
  }
};

CurlOptions stalled_options() {
  CurlOptions options;
  options.host = "stalled.test";
  options.allow_http = true;
  return options;
}

Request request_to(const std::string& url) {
  Request request;
  request.url = url;
  return request;
}

}  // namespace

TEST_CASE("a lookup has until the deadline, and closing during one does not wait") {
  const Stall stall;
  auto transport = make_curl_transport(stalled_options());
  const Request request = request_to("https://stalled.test/");
  const auto before = steady_clock::now();
  transport->start(1, request, {milliseconds(400), milliseconds(100)});
  std::vector<Arrival> arrivals;
  while (arrivals.empty()) transport->pump(steady_clock::now() + milliseconds(50), arrivals);
  CHECK(std::get<Failure>(arrivals[0].what).kind == ErrorKind::deadline);
  CHECK(to_seconds(steady_clock::now() - before) >= 0.39);
  transport->start(2, request, {std::chrono::seconds(5), std::chrono::seconds(5)});
  arrivals.clear();
  transport->pump(steady_clock::now() + milliseconds(20), arrivals);
  transport.reset();
  CHECK(to_seconds(steady_clock::now() - before) < 4);
}

TEST_CASE("a transport is woken safely while it gives up lookups") {
  const auto transport = make_curl_transport(stalled_options());
  std::jthread waker([&](const std::stop_token& done) {
    while (!done.stop_requested()) transport->wake();
  });
  const Request request = request_to("https://stalled.test/");
  std::vector<Arrival> arrivals;
  for (CallId id = 1; id <= 50; ++id) {
    transport->start(id, request, {std::chrono::seconds(5), std::chrono::seconds(5)});
    transport->pump(steady_clock::now(), arrivals);
    transport->cancel(id);
  }
  CHECK(arrivals.size() <= 50);
}

TEST_CASE("a forked child learns once that a call of its parent is lost, unless it cancels it") {
  const Stall stall;
  const Request request = request_to("https://stalled.test/");
  const TimeLimits limits{std::chrono::seconds(5), std::chrono::seconds(5)};
  for (const bool cancels : {false, true}) {
    const auto transport = make_curl_transport(stalled_options());
    transport->start(1, request, limits);
    const pid_t child = fork();
    if (child == 0) {
      std::vector<Arrival> arrivals;
      transport->start(2, request, limits);  // opens the child's own handle
      if (cancels) transport->cancel(1);
      for (int i = 0; i < 2; ++i) transport->pump(steady_clock::now(), arrivals);
      _exit(arrivals.size() == (cancels ? 0 : 1) ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

#endif
