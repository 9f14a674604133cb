// An engine pumped by a thread of its own, for callers that must never wait, such as an event loop.
// The thread never runs the caller's code, except for each call's judge.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/platform.hpp"
#include "client/client.hpp"

namespace tradingdata {

struct Events {
  Outcomes outcomes;
  RetryRecords retries;
};

// Every method may be called from any thread. After a fork the child's copy refuses to submit: the
// thread stayed with the parent. One worker serves one event loop.
//
// A copy without the thread must never be destroyed: a lock may be held by a thread that is gone.
class Worker {
 public:
  // Throws Error where no thread, socket or file descriptor is available.
  explicit Worker(std::shared_ptr<Client> client);
  ~Worker() { close(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool has_thread() const { return process_ == detail::process_id(); }
  Client& client() const { return *client_; }

  CallId submit(Call call);  // throws Error (closed)
  void cancel(CallId id);    // its outcome may still come, if it was already made

  // Readable while there are events to take. The event loop watches it and never reads from it.
  int notification_fd() const { return notifier_.fd(); }
  Events take() { return wait(Duration::zero()); }
  // The same for loops that cannot watch a descriptor: blocks until there are events or
  // `patience` passed.
  Events wait(Duration patience);

  // Ends what is in flight with an Error (closed), and joins the thread. Safe to call twice.
  void close();

 private:
  template <typename Place>
  void order(const Place& place);
  bool take_orders() noexcept;
  void publish() noexcept;
  void pump();
  bool turn() noexcept;
  void run() noexcept;
  void stop();

  const std::int64_t process_ = detail::process_id();
  std::shared_ptr<Client> client_;
  std::unique_ptr<Engine> engine_;
  detail::Notifier notifier_;
  std::mutex mutex_;  // guards the six below
  std::condition_variable made_;
  std::vector<Call> submitted_;
  std::vector<CallId> cancelled_;
  Events events_;
  bool ordered_ = false;  // the thread is woken, or about to be, to take orders
  bool raised_ = false;
  bool stopping_ = false;
  std::mutex join_mutex_;
  std::thread thread_;
};

}  // namespace tradingdata
