// The transport over libcurl: one multi handle, and easy handles that are used again and again.
#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <new>
#include <thread>
#include <utility>

#include "base/process.hpp"
#include "http/curl_easy.hpp"
#include "http/gzip_stream.hpp"
#include "http/http.hpp"

namespace tradingdata {

namespace {

using detail::EasyHandle;
using std::chrono::steady_clock;
using Handles = std::vector<std::unique_ptr<EasyHandle>>;

constexpr unsigned quick_exit_since = 0x075700;  // 7.87: a stalled name lookup is not waited for

constinit std::atomic<bool> curl_is_initialised = false;

const curl_version_info_data& initialised_curl() {
  if (!curl_is_initialised) {
    // Under the mutex, so that no fork leaves the child with a half-initialised library. Never
    // cleaned up, because other code in this process may use libcurl too.
    const std::scoped_lock lock(detail::process_mutex());
    const CURLcode code = curl_is_initialised ? CURLE_OK : curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK) {
      throw Error(ErrorKind::configuration,
                  std::string("libcurl cannot be initialised: ") + curl_easy_strerror(code));
    }
    curl_is_initialised = true;
  }
  const curl_version_info_data* version = curl_version_info(CURLVERSION_NOW);
  constexpr int needed = CURL_VERSION_SSL | CURL_VERSION_ASYNCHDNS;
  if ((version->features & needed) != needed) {
    throw Error(ErrorKind::configuration,
                "the libcurl in use lacks TLS or asynchronous name lookups: install another one");
  }
  return *version;
}

void check(CURLMcode code) {
  if (code == CURLM_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != CURLM_OK) throw Error(ErrorKind::transport, curl_multi_strerror(code));
}

int poll_milliseconds(Duration wait) {
  constexpr std::chrono::milliseconds longest = std::chrono::hours(1);
  const auto whole =
      std::chrono::ceil<std::chrono::milliseconds>(std::min<Duration>(wait, longest));
  return static_cast<int>(std::max<std::int64_t>(whole.count(), 0));
}

class CurlTransport final : public Transport {
 public:
  explicit CurlTransport(const CurlOptions& options)
      : options_(options),
        joins_resolver_(initialised_curl().version_num < quick_exit_since ||
                        options.joins_resolver) {
    options_.max_body = std::min(options_.max_body, std::int64_t{INT32_MAX});
    open();
  }

  ~CurlTransport() override {
    const detail::ForkBlocker blocker;
    if (detail::process_id() != process_) {
      disown();
    } else if (joins_resolver_ && any_resolving()) {
      reap(multi_);
    } else {
      for (const auto& [id, handle] : active_) {
        if (handle) curl_multi_remove_handle(multi_, handle->raw());
      }
      active_.clear();
      free_.clear();
      curl_multi_cleanup(multi_);
    }
  }

  void start(CallId id, const Request& request, const TimeLimits& limits) override {
    ensure_open();
    const detail::ForkBlocker blocker;
    std::unique_ptr<EasyHandle> handle;
    if (free_.empty()) {
      free_.reserve(active_.size() + 1);  // `release` must need no memory
      handle = std::make_unique<EasyHandle>(options_, joins_resolver_);
    } else {
      handle = std::move(free_.back());
      free_.pop_back();
    }
    handle->prepare(id, request, limits);
    EasyHandle& placed = *active_.emplace(id, std::move(handle)).first->second;
    if (const CURLMcode code = curl_multi_add_handle(multi_, placed.raw()); code != CURLM_OK) {
      active_.erase(id);
      check(code);
    }
  }

  bool pump(TimePoint until, std::vector<Arrival>& arrivals) override {
    ensure_open();
    while (true) {
      const TimePoint wait_until = perform(until, arrivals);
      if (woken_.exchange(false)) return true;
      const TimePoint now = steady_clock::now();
      if (!arrivals.empty() || now >= until) return false;
      const int wait = poll_milliseconds(wait_until - now);
      check(curl_multi_poll(multi_, nullptr, 0, wait, nullptr));
    }
  }

  void cancel(CallId id) noexcept override {
    if (detail::process_id() != process_) return;
    const detail::ForkBlocker blocker;
    if (const auto found = active_.find(id); found != active_.end()) drop(found);
  }

  void wake() noexcept override {
    const std::scoped_lock lock(detail::process_mutex());  // the handle may be replaced meanwhile
    woken_ = true;
    if (multi_ != nullptr) curl_multi_wakeup(multi_);
  }

 private:
  // A call without a handle lost it, and ends with the next pump.
  using Active = std::map<CallId, std::unique_ptr<EasyHandle>>;

  void open() {
    const detail::ForkBlocker blocker;
    CURLM* multi = curl_multi_init();
    if (multi == nullptr) throw std::bad_alloc();
    if (curl_multi_wakeup(multi) != CURLM_OK) {  // it has no socket pair, so `wake` could not work
      curl_multi_cleanup(multi);
      throw Error(ErrorKind::connect,
                  "cannot create a socket: this process has too many open files");
    }
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(options_.max_connections));
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
    const std::scoped_lock lock(detail::process_mutex());
    multi_ = multi;
    process_ = detail::process_id();
  }

  // Leaks every handle, on purpose: in a forked child they are the parent's, and cleaning them up
  // would write to its connections.
  void disown() noexcept {
    for (auto& [id, handle] : active_) static_cast<void>(handle.release());
    for (std::unique_ptr<EasyHandle>& handle : free_) static_cast<void>(handle.release());
    free_.clear();
  }

  void ensure_open() {
    if (detail::process_id() != process_) {
      disown();
      lost_because_ = "the process was forked while the response was awaited";
      open();
    }
    if (multi_ == nullptr) open();
  }

  // Moves bytes without waiting. Returns until when nothing happens unless bytes arrive.
  TimePoint perform(TimePoint until, std::vector<Arrival>& arrivals) {
    const detail::ForkBlocker blocker;
    int running = 0;
    check(curl_multi_perform(multi_, &running));
    collect(arrivals);
    if (joins_resolver_) until = std::min(until, expire_connects(arrivals));
    if (lost_because_ != nullptr) collect_lost(arrivals);
    return until;
  }

  void collect_lost(std::vector<Arrival>& arrivals) {
    for (auto entry = active_.begin(); entry != active_.end();) {
      const auto& [id, handle] = *entry;
      if (handle) {
        ++entry;
        continue;
      }
      arrivals.push_back({id, Failure{ErrorKind::transport, Retry::always, lost_because_}});
      entry = active_.erase(entry);
    }
    lost_because_ = nullptr;
  }

  void drop(Active::iterator position) noexcept {
    if (!position->second) {
      active_.erase(position);
    } else if (joins_resolver_ && position->second->resolving()) {
      abandon(position);
    } else {
      release(position);
    }
  }

  void release(Active::iterator position) {
    std::unique_ptr<EasyHandle> handle = std::move(position->second);
    active_.erase(position);
    curl_multi_remove_handle(multi_, handle->raw());
    handle->forget_request();
    free_.push_back(std::move(handle));
  }

  void collect(std::vector<Arrival>& arrivals) {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      EasyHandle& handle = EasyHandle::of(message->easy_handle);
      arrivals.push_back(handle.arrival(code));
      release(active_.find(handle.id()));
    }
  }

  // From here on: libcurl before 7.87, which waits for a stalled name lookup when it releases a
  // transfer. There its own timers are off, these decide, and a detached thread does the waiting.

  bool any_resolving() const {
    return std::any_of(active_.begin(), active_.end(),
                       [](const auto& entry) { return entry.second && entry.second->resolving(); });
  }

  TimePoint expire_connects(std::vector<Arrival>& arrivals) {
    const TimePoint now = steady_clock::now();
    TimePoint next = TimePoint::max();
    std::vector<CallId> late;
    for (const auto& [id, handle] : active_) {
      if (!handle || handle->connected()) continue;
      if (handle->connect_by() <= now) late.push_back(id);
      next = std::min(next, handle->connect_by());
    }
    for (const CallId id : late) {
      const auto found = active_.find(id);
      if (!found->second) continue;  // it went with a handle that was abandoned
      arrivals.push_back({id, found->second->failure(CURLE_OPERATION_TIMEDOUT)});
      drop(found);
    }
    return next;
  }

  // The next call opens another multi handle. `wake` must not see this one any more: another thread
  // may be about to use it, and the reaper frees it.
  void abandon(Active::iterator position) noexcept {
    CURLM* multi = nullptr;
    {
      const std::scoped_lock lock(detail::process_mutex());
      multi = std::exchange(multi_, nullptr);
    }
    const CallId id = position->first;
    reap(multi);
    active_.erase(id);
    lost_because_ = "a stalled name lookup took the other connections with it";
  }

  // What a separate thread frees, because freeing may wait until a name lookup ends.
  struct Remains {
    CURLM* multi;
    Handles handles;
  };

  void reap(CURLM* multi) noexcept {
    try {
      auto owner = std::make_unique<Remains>();
      owner->multi = multi;
      owner->handles.reserve(active_.size() + free_.size());
      for (auto& [id, handle] : active_) owner->handles.push_back(std::move(handle));
      for (std::unique_ptr<EasyHandle>& handle : free_) owner->handles.push_back(std::move(handle));
      free_.clear();
      Remains* const remains =
          owner.release();  // leaks if no thread can be started: better than waiting
      std::thread([remains] { bury(std::unique_ptr<Remains>(remains)); }).detach();
    } catch (const std::exception&) {
      disown();
    }
  }

  static void bury(std::unique_ptr<Remains> remains) {
    // This is what waits, so a fork must not wait for it.
    for (const auto& handle : remains->handles) {
      if (handle) curl_multi_remove_handle(remains->multi, handle->raw());
    }
    const detail::ForkBlocker blocker;
    remains->handles.clear();
    curl_multi_cleanup(remains->multi);
  }

  CurlOptions options_;
  bool joins_resolver_;
  std::int64_t process_ = 0;
  CURLM* multi_ = nullptr;
  std::atomic<bool> woken_ = false;
  Active active_;
  Handles free_;
  const char* lost_because_ = nullptr;  // why calls have no handle, where some may have none
};

}  // namespace

std::unique_ptr<Transport> make_curl_transport(const CurlOptions& options) {
  return std::make_unique<CurlTransport>(options);
}

std::string transport_version() {
  const curl_version_info_data& version = initialised_curl();
  const char* const tls = version.ssl_version == nullptr ? "" : version.ssl_version;
  return std::string("libcurl/") + version.version + " " + tls + " " + detail::gzip_library();
}

}  // namespace tradingdata
