// An engine pumped by a thread of its own, for callers that must never wait, such as an event loop.
// The thread never runs the caller's code, except for each call's judge.
#pragma once

#include <memory>

#include "client/client.hpp"

namespace tradingdata {

struct Events {
  Outcomes outcomes;
  RetryRecords retries;
};

// Every method may be called from any thread. After a fork the child's copy refuses to submit: the
// thread stayed with the parent. One worker serves one event loop.
class Worker {
 public:
  // Throws Error where no thread, socket or file descriptor is available.
  explicit Worker(std::shared_ptr<Client> client);
  ~Worker();

  void submit(Call call);  // throws Error (closed)
  void cancel(CallId id);  // its outcome may still come, if it was already made

  // Readable while there are events to take. The event loop watches it and never reads from it.
  int notification_fd() const;
  Events take() { return wait(Duration::zero()); }
  // The same for loops that cannot watch a descriptor: blocks until there are events or
  // `patience` passed.
  Events wait(Duration patience);

  // Ends what is in flight with an Error (closed), and joins the thread. Safe to call twice.
  void close();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tradingdata
