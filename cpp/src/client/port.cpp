// The local port, and the worker: the thread that pumps an engine, and the queue through which
// calls reach it. A forked child has the worker's object but not the thread.
#include "client/port.hpp"

#include <exception>
#include <system_error>
#include <utility>

namespace tradingdata {

// One thread's turn with a local port.
class LocalPort::Use {
 public:
  explicit Use(LocalPort& port) : used_(port.used_) {
    if (used_.exchange(true)) {
      throw Error(ErrorKind::configuration,
                  "another thread is reading this search: let each thread make its own");
    }
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() { used_ = false; }

 private:
  std::atomic<bool>& used_;
};

CallId LocalPort::submit(Call call) {
  const Use use(*this);
  const CallId id = call.id;
  if (!engine_) engine_ = client_->lease();
  engine_->submit(std::move(call));
  return id;
}

Events LocalPort::wait(Duration patience) {
  const Use use(*this);
  if (!engine_) return {};
  client_->wait(*engine_, patience);
  return engine_->take();
}

void LocalPort::close() {
  const Use use(*this);
  engine_.reset();
}

Worker::Worker(std::shared_ptr<Client> client)
    : Port(std::move(client)), engine_(client_->make_engine()) {
  client_->check_open();
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    throw Error(ErrorKind::connect, "cannot start a thread for the asynchronous client",
                advice::try_later);
  }
}

CallId Worker::submit(Call call) {
  const CallId id = call.id;
  if (!has_thread()) {
    throw Error(ErrorKind::closed,
                "the client was made before a fork: make a new one in the child");
  }
  order([&] {
    if (stopping_) throw closed_error();
    submitted_.push_back(std::move(call));
  });
  return id;
}

void Worker::cancel(CallId id) {
  if (has_thread()) order([&] { cancelled_.push_back(id); });
}

Events Worker::wait(Duration patience) {
  if (!has_thread()) return {};
  std::unique_lock lock(mutex_);
  made_.wait_for(lock, patience, [this] { return raised_ || stopping_; });
  if (raised_) notifier_.lower();
  raised_ = false;
  return std::exchange(events_, {});
}

void Worker::close() {
  if (!has_thread()) return;
  stop();
  const std::scoped_lock lock(join_mutex_);
  if (thread_.joinable()) thread_.join();
}

void Worker::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  engine_->wake();
  made_.notify_all();
}

// Many orders in a row wake the thread once: it takes all there are.
template <typename Place>
void Worker::order(const Place& place) {
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
bool Worker::take_orders() noexcept {
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

void Worker::publish() noexcept {
  Events events = engine_->take();
  if (events.outcomes.empty() && events.retries.empty()) return;
  {
    const std::scoped_lock lock(mutex_);
    events_.outcomes.splice(events_.outcomes.end(), events.outcomes);
    events_.retries.splice(events_.retries.end(), events.retries);
    if (!raised_) notifier_.raise();
    raised_ = true;
  }
  made_.notify_all();
}

void Worker::pump() {
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
bool Worker::turn() noexcept {
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

void Worker::run() noexcept {
  while (turn()) {
  }
  stop();  // nothing is submitted from here on,
  turn();  // and what was submitted until then ends too
}

}  // namespace tradingdata
