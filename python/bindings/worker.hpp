// The worker that serves an event loop, and the client that makes its calls.
#pragma once

#include "client.hpp"
#include "client/worker.hpp"

namespace tradingdata::python {

struct Port {
  explicit Port(std::shared_ptr<Client> owner) : client(std::move(owner)), worker(client) {}

  CallId submit(Call call);

  std::shared_ptr<Client> client;
  Worker worker;
};

}  // namespace tradingdata::python
