// The thread that pumps the engine, and the queue through which calls reach it. A forked child
// has the object but not the thread.
#include "client/worker.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/platform.hpp"

namespace tradingdata {

class Worker::State {
 public:
  explicit State(std::shared_ptr<Client> client)
      : client_(std::move(client)), engine_(client_->make_engine()) {
    thread_ = std::thread([this] { run(); });
  }

  ~State() { close(); }

  std::int64_t process() const { return process_; }
  int fd() const { return notifier_.fd(); }

  void submit(Call call) {
    order([&] {
      if (stopping_) throw closed_error();
      submitted_.push_back(std::move(call));
    });
  }

  void cancel(CallId id) {
    order([&] { cancelled_.push_back(id); });
  }

  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    engine_->wake();
    made_.notify_all();
  }

  void close() {
    stop();
    const std::scoped_lock lock(join_mutex_);
    if (thread_.joinable()) thread_.join();
  }

  Events wait(Duration patience) {
    std::unique_lock lock(mutex_);
    made_.wait_for(lock, patience, [this] { return raised_ || stopping_; });
    if (raised_) notifier_.lower();
    raised_ = false;
    return std::exchange(events_, {});
  }

 private:
  // Many orders in a row wake the thread once: it takes all there are.
  template <typename Place>
  void order(const Place& place) {
    bool first = false;
    {
      const std::scoped_lock lock(mutex_);
      place();
      first = !std::exchange(ordered_, true);
    }
    if (first) engine_->wake();
  }

  // False once the worker is to stop. Allocates nothing: an order that was taken must be carried
  // out.
  bool take_orders() noexcept {
    std::vector<Call> submitted;
    std::vector<CallId> cancelled;
    bool open = true;
    {
      const std::scoped_lock lock(mutex_);
      open = !stopping_;
      ordered_ = false;
      submitted = std::exchange(submitted_, {});
      cancelled = std::exchange(cancelled_, {});
    }
    for (Call& call : submitted) engine_->submit(std::move(call));
    for (const CallId id : cancelled) engine_->cancel(id);
    return open;
  }

  void publish() noexcept {
    Outcomes outcomes = engine_->take_all();
    RetryRecords retries = engine_->take_retries();
    if (outcomes.empty() && retries.empty()) return;
    {
      const std::scoped_lock lock(mutex_);
      events_.outcomes.splice(events_.outcomes.end(), outcomes);
      events_.retries.splice(events_.retries.end(), retries);
      if (!raised_) notifier_.raise();
      raised_ = true;
    }
    made_.notify_all();
  }

  void pump() {
    const TimePoint now = engine_->sources().now();
    // An idle engine sleeps until it is woken; a busy one checks every slice whether it may go on.
    if (engine_->idle()) {
      engine_->pump(now + std::chrono::hours(1));
    } else {
      const detail::Inside inside;
      engine_->pump(now + slice_of_wait);
    }
  }

  // False if the thread must end. Every exception ends the calls that it concerns and none ends
  // the thread: later calls would wait for it for ever.
  bool turn() noexcept {
    bool open = take_orders();
    try {
      if (!open) throw closed_error();
      client_->check_open();
      pump();
    } catch (...) {
      engine_->end_all(std::current_exception());
      open = open && !client_->closed() && !detail::ending;
      if (open) std::this_thread::sleep_for(slice_of_wait);  // it may be thrown again at once
    }
    publish();
    return open;
  }

  void run() noexcept {
    while (turn()) {
    }
    stop();  // nothing is submitted from here on,
    turn();  // and what was submitted until then ends too
  }

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

Worker::Worker(std::shared_ptr<Client> client) {
  client->check_open();
  try {
    state_ = std::make_unique<State>(std::move(client));
  } catch (const std::system_error&) {
    throw Error(ErrorKind::connect, "cannot start a thread for the asynchronous client");
  }
}

Worker::~Worker() {
  // In a forked child there is no thread to join, and a lock may be held by one that is gone.
  if (state_->process() != detail::process_id()) static_cast<void>(state_.release());
}

void Worker::submit(Call call) {
  if (state_->process() != detail::process_id()) {
    throw Error(ErrorKind::closed,
                "the client was made before a fork: make a new one in the child");
  }
  state_->submit(std::move(call));
}

void Worker::cancel(CallId id) {
  if (state_->process() == detail::process_id()) state_->cancel(id);
}

int Worker::notification_fd() const {
  return state_->fd();
}

Events Worker::wait(Duration patience) {
  return state_->process() == detail::process_id() ? state_->wait(patience) : Events();
}

void Worker::close() {
  if (state_->process() == detail::process_id()) state_->close();
}

}  // namespace tradingdata
