#include "client/worker.hpp"

#include <condition_variable>
#include <exception>
#include <iterator>
#include <mutex>
#include <new>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "base/notifier.hpp"
#include "base/process.hpp"

namespace tradingdata {

class Worker::State {
 public:
  explicit State(std::shared_ptr<Client> client)
      : client_(std::move(client)), engine_(client_->make_engine()) {
    thread_ = std::thread([this] { run(); });
  }

  ~State() {
    stop();
    if (thread_.joinable()) thread_.join();
  }

  std::int64_t process() const { return process_; }
  int fd() const { return notifier_.fd(); }

  void submit(Call call) {
    order([&] {
      if (stopping_) throw Error(ErrorKind::closed, "the client is closed: make a new one");
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

  void join() {
    const std::scoped_lock lock(join_mutex_);
    if (thread_.joinable()) thread_.join();
  }

  Events take() {
    const std::scoped_lock lock(mutex_);
    return take_locked();
  }

  Events wait(Duration patience) {
    std::unique_lock lock(mutex_);
    made_.wait_for(lock, patience, [this] { return raised_ || stopping_; });
    return take_locked();
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

  Events take_locked() {
    if (raised_) notifier_.lower();
    raised_ = false;
    return std::exchange(events_, {});
  }

  // False where the thread shall end.
  bool take_orders() {
    std::vector<Call> submitted;
    std::vector<CallId> cancelled;
    {
      const std::scoped_lock lock(mutex_);
      if (stopping_) return false;
      ordered_ = false;
      submitted = std::exchange(submitted_, {});
      cancelled = std::exchange(cancelled_, {});
    }
    for (Call& call : submitted) {
      in_flight_.insert(call.id);
      engine_->submit(std::move(call));
    }
    for (const CallId id : cancelled) {
      in_flight_.erase(id);
      engine_->cancel(id);
    }
    return true;
  }

  void publish(std::vector<Outcome> outcomes, std::vector<RetryRecord> retries) {
    if (outcomes.empty() && retries.empty()) return;
    for (const Outcome& outcome : outcomes) in_flight_.erase(outcome.id);
    {
      const std::scoped_lock lock(mutex_);
      std::move(outcomes.begin(), outcomes.end(), std::back_inserter(events_.outcomes));
      std::move(retries.begin(), retries.end(), std::back_inserter(events_.retries));
      if (!raised_) notifier_.raise();
      raised_ = true;
    }
    made_.notify_all();
  }

  // The transport itself gave up: every call ends with what it said, and none is left waiting.
  // Each gets an exception of its own, since they are looked at on other threads.
  void fail_all(const Error& error) {
    engine_->cancel_all();
    std::vector<Outcome> outcomes;
    for (const CallId id : in_flight_) {
      Outcome outcome;
      outcome.id = id;
      outcome.error = std::make_exception_ptr(error);
      outcomes.push_back(std::move(outcome));
    }
    publish(std::move(outcomes), {});
  }

  bool client_open() const { return !client_->closed() && !detail::ending(); }

  void run() noexcept {
    try {
      while (true) {
        try {
          if (!client_open()) client_->check_open();
          if (!take_orders()) break;
          // An idle engine sleeps until it is woken; a busy one looks up every slice.
          const TimePoint now = engine_->sources().now();
          if (engine_->idle()) {
            engine_->pump(now + std::chrono::hours(1));
          } else {
            const detail::Inside inside;
            engine_->pump(now + Waiting::slice);
          }
        } catch (const Error& error) {
          fail_all(error);
          if (!client_open()) break;
          std::this_thread::sleep_for(Waiting::slice);  // what broke may do so again at once
        } catch (const std::bad_alloc&) {
          fail_all(Error(ErrorKind::transport, "out of memory while calls were in flight"));
        }
        publish(engine_->take_all(), engine_->take_retries());
      }
      engine_->cancel_all();
      stop();
    } catch (const std::exception&) {
      // No memory left even to say so: the calls' own timeouts are what is left.
    }
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
  std::set<CallId> in_flight_;  // the thread's own
  std::thread thread_;
};

Worker::Worker(std::shared_ptr<Client> client) {
  client->check_open();
  try {
    state_ = std::make_unique<State>(std::move(client));
  } catch (const std::system_error&) {
    throw Error(ErrorKind::connect, "no thread to be had for the asynchronous client");
  }
}

Worker::~Worker() {
  // In a forked child there is no thread to join, and a lock may be held by one that is not there.
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

Events Worker::take() {
  return state_->process() == detail::process_id() ? state_->take() : Events();
}

Events Worker::wait(Duration patience) {
  return state_->process() == detail::process_id() ? state_->wait(patience) : Events();
}

void Worker::close() {
  if (state_->process() != detail::process_id()) return;
  state_->stop();
  state_->join();
}

}  // namespace tradingdata
