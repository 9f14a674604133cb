// Calls over the real transport to a loopback server, and what came of them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "client/client.hpp"
#include "support/loopback.hpp"
#include "table/records.hpp"

namespace calling {

using namespace tradingdata;
using loopback::Server;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

inline std::shared_ptr<Client> client_of(const std::string& url, int attempts = 1,
                                         const std::function<void(ClientOptions&)>& change = {}) {
  ClientOptions options;
  options.base_url = url;
  options.engine.retry.attempts = attempts;
  options.timeout = 10;
  if (change) change(options);
  auto client = std::make_shared<Client>(options);
  client->set_token("canary-token-1");
  return client;
}

}  // namespace calling
