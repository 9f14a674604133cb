// Where calls are submitted and their outcomes are awaited. A local port pumps an engine on the
// thread that waits; a worker does so on a thread of its own, for callers that must never wait,
// such as an event loop.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/platform.hpp"
#include "client/client.hpp"

namespace tradingdata {

class Port {
 public:
  explicit Port(std::shared_ptr<Client> client) : client_(std::move(client)) {}
  virtual ~Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  Client& client() const { return *client_; }

  virtual CallId submit(Call call) = 0;  // throws Error (closed)

  // Blocks until there are events or `patience` passed, a local port for one slice at most.
  virtual Events wait(Duration patience) = 0;

  virtual void close() = 0;  // cancels or ends what is in flight; safe to call twice

 protected:
  const std::shared_ptr<Client> client_;
};

// Leases an engine with the first call and keeps it, with its connections, until it is closed or
// destroyed. Nothing moves while nobody waits. For one thread at a time: a second one that calls a
// method meanwhile gets an Error.
class LocalPort final : public Port {
 public:
  using Port::Port;

  CallId submit(Call call) override;
  // Returns after one slice at the latest, so that its caller can handle signals. Throws Error
  // (closed) within a slice after the client was closed.
  Events wait(Duration patience) override;
  void close() override;

 private:
  class Use;

  std::shared_ptr<Engine> engine_;
  std::atomic<bool> used_ = false;  // by a thread that is in a method
};

// Every method may be called from any thread. The thread never runs the caller's code, except for
// each response's consumer. After a fork the child's copy refuses to submit: the thread stayed with
// the parent. One worker serves one event loop.
//
// A copy without the thread must never be destroyed: a lock may be held by a thread that is gone.
class Worker final : public Port {
 public:
  // Throws Error where no thread, socket or file descriptor is available.
  explicit Worker(std::shared_ptr<Client> client);
  ~Worker() override { close(); }

  bool has_thread() const { return made_at_ == detail::fork_depth; }
  CallId submit(Call call) override;
  void cancel(CallId id);  // its outcome may still come, if it was already made

  // Readable while there are events to take. The event loop watches it and never reads from it.
  int notification_fd() const { return notifier_.fd(); }
  // For loops that cannot watch a descriptor.
  Events wait(Duration patience) override;

  // Ends what is in flight with an Error (closed), and joins the thread.
  void close() override;

 private:
  template <typename Place>
  void order(const Place& place);
  bool take_orders() noexcept;
  void publish() noexcept;
  void pump();
  bool turn() noexcept;
  void run() noexcept;
  void stop();

  const int made_at_ = detail::fork_depth;
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
