// Calls over the real transport to a loopback server, and what came of them.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "client/client.hpp"
#include "support/loopback.hpp"
#include "table/records.hpp"

namespace calling {

using namespace tradingdata;
using loopback::Connection;
using loopback::Server;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

inline std::shared_ptr<Client> client_of(const std::string& url, int attempts = 1,
                                         const std::function<void(ClientOptions&)>& change = {}) {
  ClientOptions options;
  options.base_url = url;
  options.retry.attempts = attempts;
  options.timeout = 10;
  options.user_agent = "tradingdata/test";
  if (change) change(options);
  auto client = std::make_shared<Client>(options);
  client->set_token("canary-token-1");
  return client;
}

inline Error error_of(Client& client, std::optional<double> timeout = {}) {
  try {
    client.run(client.book(trade_schema, timeout));
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error");
  throw std::logic_error("not reached");
}

inline bool says(const Error& error, const char* words) {
  return std::string(error.what()).find(words) != std::string::npos;
}

inline double seconds_for(const std::function<void()>& action) {
  const auto before = steady_clock::now();
  action();
  return to_seconds(steady_clock::now() - before);
}

}  // namespace calling
