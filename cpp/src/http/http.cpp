// The transport over libcurl: one multi handle, and easy handles that are used again and again.
#include "http/http.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <new>
#include <utility>

#include "http/curl_easy.hpp"
#include "http/inflate.hpp"
#include "http/transfer_failure.hpp"

namespace tradingdata {

namespace {

using detail::EasyHandle;
using std::chrono::steady_clock;
using Handles = std::vector<std::unique_ptr<EasyHandle>>;

// The first that does not wait for a stalled name lookup when a transfer is given up.
constexpr unsigned oldest = 0x075700;  // 7.87

const curl_version_info_data& usable_curl() {
  {
    // Under the mutex, so that no fork leaves the child with a half-initialised library. All but
    // the first call only count. Never cleaned up, because other code in this process may use
    // libcurl.
    const std::scoped_lock lock(detail::process_mutex());
    const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK) {
      throw Error(ErrorKind::configuration,
                  std::string("libcurl cannot be initialised: ") + curl_easy_strerror(code));
    }
  }
  const curl_version_info_data* version = curl_version_info(CURLVERSION_NOW);
  if (version->version_num < oldest) {
    throw Error(ErrorKind::configuration, std::string("the libcurl in use is ") + version->version +
                                              ": install libcurl 7.87 or newer");
  }
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

class CurlTransport final : public Transport {
 public:
  explicit CurlTransport(const CurlOptions& options)
      : options_(options), roots_(options.ca_pem.empty() ? options.ca_file : "") {
    usable_curl();
    options_.max_body = std::min(options_.max_body, std::int64_t{INT32_MAX});
    open();
  }

  ~CurlTransport() override {
    const detail::ForkBlocker blocker;
    if (forked()) {
      disown();
    } else {
      for (const auto& [id, handle] : active_) curl_multi_remove_handle(multi_, handle->raw());
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
      handle = std::make_unique<EasyHandle>(options_, sockets_, roots_);
    } else {
      handle = std::move(free_.back());
      free_.pop_back();
    }
    handle->prepare(id, request, limits, failed_);
    EasyHandle& placed = *active_.emplace(id, std::move(handle)).first->second;
    if (const CURLMcode code = curl_multi_add_handle(multi_, placed.raw()); code != CURLM_OK) {
      active_.erase(id);
      check(code);
    }
  }

  bool pump(TimePoint until, std::vector<Arrival>& arrivals) override {
    ensure_open();
    while (true) {
      perform(arrivals);
      if (woken_.exchange(false)) return true;
      const TimePoint now = steady_clock::now();
      if (!arrivals.empty() || now >= until) return false;
      const auto wait = static_cast<int>(detail::ceil_milliseconds(until - now));
      check(curl_multi_poll(multi_, nullptr, 0, wait, nullptr));
    }
  }

  void cancel(CallId id) noexcept override {
    if (forked()) return;
    const detail::ForkBlocker blocker;
    std::erase(lost_, id);
    if (const auto found = active_.find(id); found != active_.end()) release(found);
  }

  void wake() noexcept override {
    const std::scoped_lock lock(detail::process_mutex());  // the handle may be replaced meanwhile
    woken_ = true;
    curl_multi_wakeup(multi_);
  }

 private:
  using Active = std::map<CallId, std::unique_ptr<EasyHandle>>;

  bool forked() const { return opened_at_ != detail::fork_depth; }

  void open() {
    const detail::ForkBlocker blocker;
    CURLM* multi = curl_multi_init();
    // Without a socket pair `wake` could not work; libcurl 8 then makes no handle at all.
    if (multi == nullptr || curl_multi_wakeup(multi) != CURLM_OK) {
      curl_multi_cleanup(multi);
      throw Error(ErrorKind::connect,
                  "cannot create a socket: this process has too many open files");
    }
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(options_.max_connections));
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
    const std::scoped_lock lock(detail::process_mutex());
    multi_ = multi;
    sockets_ = {};
    opened_at_ = detail::fork_depth;
  }

  // Leaks every handle, on purpose: in a forked child they are the parent's, and cleaning them up
  // would write to its connections.
  void disown() noexcept {
    for (auto& [id, handle] : active_) static_cast<void>(handle.release());
    for (std::unique_ptr<EasyHandle>& handle : free_) static_cast<void>(handle.release());
    active_.clear();
    free_.clear();
  }

  void ensure_open() {
    if (!forked()) return;
    for (const auto& [id, handle] : active_) lost_.push_back(id);
    disown();
    open();
  }

  // Moves bytes without waiting.
  void perform(std::vector<Arrival>& arrivals) {
    const detail::ForkBlocker blocker;
    int running = 0;
    check(curl_multi_perform(multi_, &running));
    collect(arrivals);
    for (const CallId id : lost_) {
      Arrival& arrival = arrivals.emplace_back();
      arrival.id = id;
      arrival.what = detail::damaged("the process was forked while the response was awaited");
    }
    lost_.clear();
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
      if (handle.starts_again()) {
        start_again(handle);
        continue;
      }
      arrivals.push_back(handle.arrival(code));
      failed_ = std::holds_alternative<Failure>(arrivals.back().what);
      release(active_.find(handle.id()));
    }
  }

  void start_again(EasyHandle& handle) {
    handle.prepare_again();
    check(curl_multi_remove_handle(multi_, handle.raw()));
    check(curl_multi_add_handle(multi_, handle.raw()));
  }

  CurlOptions options_;
  detail::OpenSockets sockets_;
  detail::Roots roots_;
  int opened_at_ = 0;  // of `fork_depth`
  CURLM* multi_ = nullptr;
  std::atomic<bool> woken_ = false;
  Active active_;
  Handles free_;
  bool failed_ = false;       // the last transfer: the host's addresses may be outdated
  std::vector<CallId> lost_;  // calls of the parent process, which end with the next pump
};

}  // namespace

std::unique_ptr<Transport> make_curl_transport(const CurlOptions& options) {
  return std::make_unique<CurlTransport>(options);
}

std::string transport_version() {
  const curl_version_info_data& version = usable_curl();
  const char* const tls = version.ssl_version == nullptr ? "" : version.ssl_version;
  return std::string("libcurl/") + version.version + " " + tls + " " + detail::gzip_library();
}

// Facts about a request for messages and redaction, and the dates of headers.

std::shared_ptr<TokenSearch> Request::secrets() const {
  return known == nullptr ? nullptr : known->search(token);
}

std::string Request::target() const {
  const std::size_t mark = url.find("://");
  const std::size_t slash = url.find('/', mark == std::string::npos ? 0 : mark + 3);
  const std::string path =
      slash == std::string::npos ? "/" : url.substr(slash, url.find('?', slash) - slash);
  return (method == Method::post ? "POST " : "GET ") + path;
}

std::optional<std::int64_t> parse_http_date(const std::string& text) {
  const time_t seconds = curl_getdate(text.c_str(), nullptr);
  constexpr std::int64_t end_of_9999 = 253'402'300'799;  // the last time that Python has
  if (seconds < 0 || seconds > end_of_9999) return std::nullopt;
  return seconds;
}

}  // namespace tradingdata
