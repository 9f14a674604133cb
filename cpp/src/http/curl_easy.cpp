// All options of a transfer in one place. Those for safety (protocols, TLS, redirects) are set
// explicitly, because defaults differ between versions of libcurl.
#include "http/curl_easy.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

namespace tradingdata::detail {

struct HeaderNode : curl_slist {};

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

template <class Value>
void set(CURL* easy, CURLoption option, Value value, const char* name) {
  const CURLcode code = curl_easy_setopt(easy, option, value);
  if (code == CURLE_OK) return;
  if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  throw Error(ErrorKind::configuration,
              std::string("the libcurl in use (") + curl_version_info(CURLVERSION_NOW)->version +
                  ") does not support " + name + ": " + curl_easy_strerror(code));
}

#define TRADINGDATA_SET(option, value) set(easy_, option, value, #option)

// For options that only some TLS libraries have.
template <class Value>
void set_where_known(CURL* easy, CURLoption option, Value value, const char* name) {
  const CURLcode code = curl_easy_setopt(easy, option, value);
  if (code == CURLE_NOT_BUILT_IN || code == CURLE_UNKNOWN_OPTION) return;
  set(easy, option, value, name);
}

#define TRADINGDATA_SET_WHERE_KNOWN(option, value) set_where_known(easy_, option, value, #option)

template <class Value>
Value info(CURL* easy, CURLINFO what) {
  Value value{};
  curl_easy_getinfo(easy, what, &value);
  return value;
}

long ceil_milliseconds(Duration duration) {
  constexpr milliseconds longest = std::chrono::hours(24);
  const auto whole = std::chrono::ceil<milliseconds>(std::min<Duration>(duration, longest));
  return static_cast<long>(std::max<milliseconds::rep>(whole.count(), 1));
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* receiver) noexcept {
  const std::size_t bytes = size * count;
  return static_cast<Receiver*>(receiver)->header({data, bytes}) ? bytes : bytes + 1;
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* receiver) noexcept {
  const std::size_t bytes = size * count;
  return static_cast<Receiver*>(receiver)->body({data, bytes}) ? bytes : bytes + 1;
}

WireFault fault_of(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_CONNECT: return WireFault::no_connection;
    case CURLE_COULDNT_RESOLVE_HOST: return WireFault::no_host;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY: return WireFault::no_proxy;
    case CURLE_PEER_FAILED_VERIFICATION: return WireFault::certificate;
    case CURLE_SSL_CACERT_BADFILE: return WireFault::ca_file;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_USE_SSL_FAILED: return WireFault::handshake;
    case CURLE_GOT_NOTHING: return WireFault::empty_reply;
    case CURLE_PARTIAL_FILE: return WireFault::cut_body;
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR: return WireFault::broken_connection;
    case CURLE_UNSUPPORTED_PROTOCOL: return WireFault::not_http;
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WEIRD_SERVER_REPLY: return WireFault::malformed;
    case CURLE_FILESIZE_EXCEEDED: return WireFault::too_large;
    case CURLE_OUT_OF_MEMORY: return WireFault::no_memory;
    default: return WireFault::other;
  }
}

}  // namespace

EasyHandle::EasyHandle(const CurlOptions& options, bool joins_resolver)
    : options_(&options), easy_(curl_easy_init()), joins_resolver_(joins_resolver) {
  static_assert(CURL_ERROR_SIZE <= std::tuple_size_v<decltype(error_text_)>);
  if (easy_ == nullptr) throw std::bad_alloc();
  try {
    set_fixed_options();
  } catch (...) {
    curl_easy_cleanup(easy_);
    throw;
  }
}

EasyHandle::~EasyHandle() {
  curl_easy_cleanup(easy_);
}

EasyHandle& EasyHandle::of(void* easy) {
  return *static_cast<EasyHandle*>(info<void*>(easy, CURLINFO_PRIVATE));
}

void EasyHandle::set_fixed_options() {
  TRADINGDATA_SET(CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
  if (!joins_resolver_) TRADINGDATA_SET(CURLOPT_QUICK_EXIT, 1L);
#endif
#if LIBCURL_VERSION_NUM >= 0x075500
  TRADINGDATA_SET(CURLOPT_PROTOCOLS_STR, options_->allow_http ? "http,https" : "https");
  TRADINGDATA_SET(CURLOPT_REDIR_PROTOCOLS_STR, "https");
#else
  const long protocols = options_->allow_http ? CURLPROTO_HTTP | CURLPROTO_HTTPS : CURLPROTO_HTTPS;
  TRADINGDATA_SET(CURLOPT_PROTOCOLS, protocols);
  TRADINGDATA_SET(CURLOPT_REDIR_PROTOCOLS, static_cast<long>(CURLPROTO_HTTPS));
#endif
  TRADINGDATA_SET(CURLOPT_FOLLOWLOCATION, 0L);
  TRADINGDATA_SET(CURLOPT_UNRESTRICTED_AUTH, 0L);
  TRADINGDATA_SET(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  TRADINGDATA_SET(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_NONE));
  TRADINGDATA_SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  TRADINGDATA_SET(CURLOPT_PROXY, options_->proxy.c_str());
  TRADINGDATA_SET(CURLOPT_NOPROXY, options_->no_proxy.c_str());
  TRADINGDATA_SET(CURLOPT_HTTPPROXYTUNNEL, 1L);
  TRADINGDATA_SET(CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));
  TRADINGDATA_SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  TRADINGDATA_SET(CURLOPT_SSL_VERIFYPEER, 1L);
  TRADINGDATA_SET(CURLOPT_SSL_VERIFYHOST, 2L);
  TRADINGDATA_SET(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!options_->ca_file.empty()) {
    TRADINGDATA_SET(CURLOPT_CAINFO, options_->ca_file.c_str());
    TRADINGDATA_SET(CURLOPT_PROXY_CAINFO, options_->ca_file.c_str());
    // That file and no other root. Schannel and others read no folder of roots.
    TRADINGDATA_SET_WHERE_KNOWN(CURLOPT_CAPATH, static_cast<char*>(nullptr));
  } else {
    // OpenSSL uses the roots of Windows only on request.
    constexpr long system_roots = CURLSSLOPT_NATIVE_CA;
    TRADINGDATA_SET_WHERE_KNOWN(CURLOPT_SSL_OPTIONS, system_roots);
    TRADINGDATA_SET_WHERE_KNOWN(CURLOPT_PROXY_SSL_OPTIONS, system_roots);
  }
  TRADINGDATA_SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
  TRADINGDATA_SET(CURLOPT_LOW_SPEED_TIME, 20L);
  TRADINGDATA_SET(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(options_->max_body));
  TRADINGDATA_SET(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  TRADINGDATA_SET(CURLOPT_HTTP09_ALLOWED, 0L);
  TRADINGDATA_SET(CURLOPT_HTTP_CONTENT_DECODING, 0L);  // the receiver unpacks, and checks the end
  TRADINGDATA_SET(CURLOPT_TCP_NODELAY, 1L);
  TRADINGDATA_SET(CURLOPT_TCP_KEEPALIVE, 1L);
  TRADINGDATA_SET(CURLOPT_MAXAGE_CONN, 60L);
#if LIBCURL_VERSION_NUM >= 0x075000
  TRADINGDATA_SET(CURLOPT_MAXLIFETIME_CONN, 600L);
#endif
  TRADINGDATA_SET(CURLOPT_USERAGENT, options_->user_agent.c_str());
  TRADINGDATA_SET(CURLOPT_ERRORBUFFER, error_text_.data());
  TRADINGDATA_SET(CURLOPT_PRIVATE, static_cast<void*>(this));
  TRADINGDATA_SET(CURLOPT_HEADERFUNCTION, &on_header);
  TRADINGDATA_SET(CURLOPT_HEADERDATA, static_cast<void*>(&receiver_));
  TRADINGDATA_SET(CURLOPT_WRITEFUNCTION, &on_body);
  TRADINGDATA_SET(CURLOPT_WRITEDATA, static_cast<void*>(&receiver_));
}

void EasyHandle::prepare(CallId id, const Request& request, const TimeLimits& limits) {
  const TimePoint now = steady_clock::now();
  id_ = id;
  request_ = &request;
  deadline_ = now + limits.total;
  connect_by_ = now + std::min(limits.connect, limits.total);
  error_text_[0] = '\0';
  receiver_.start(options_->max_body, &request);

  std::vector<const char*> lines;
  for (const std::string& header : request.headers) lines.push_back(header.c_str());
  if (request.token) lines.push_back(request.token->header());
  // A name without a value tells libcurl not to send its own; a later one does not undo a real one.
  for (const char* fixed : {"Accept-Encoding: gzip", "Expect:"}) lines.push_back(fixed);
  if (!request.has_header("accept")) lines.push_back("Accept:");
  headers_.resize(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    headers_[i].data = const_cast<char*>(lines[i]);  // libcurl reads it only
    headers_[i].next = i + 1 < lines.size() ? &headers_[i + 1] : nullptr;
  }
  TRADINGDATA_SET(CURLOPT_URL, request.url.c_str());
  TRADINGDATA_SET(CURLOPT_HTTPHEADER, static_cast<curl_slist*>(headers_.data()));
  if (request.method == Method::post) {
    TRADINGDATA_SET(CURLOPT_POST, 1L);
    TRADINGDATA_SET(CURLOPT_POSTFIELDS, request.body.c_str());
    TRADINGDATA_SET(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  } else {
    TRADINGDATA_SET(CURLOPT_HTTPGET, 1L);
  }
  // Where libcurl would wait for the resolver, its timers must never fire before the transport's.
  const Duration slack = joins_resolver_ ? std::chrono::minutes(1) : Duration();
  // Unchecked: libcurl 7.88 refuses it while a handle still holds the buffer of a transfer that was
  // given up during its name lookup, and that buffer serves as well.
  curl_easy_setopt(easy_, CURLOPT_BUFFERSIZE, buffer_size_);
  TRADINGDATA_SET(CURLOPT_TIMEOUT_MS, ceil_milliseconds(limits.total + slack));
  TRADINGDATA_SET(CURLOPT_CONNECTTIMEOUT_MS, ceil_milliseconds(limits.connect + slack));
}

void EasyHandle::forget_request() {
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, nullptr);
  curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, nullptr);
  request_ = nullptr;
}

bool EasyHandle::resolving() const {
  return info<curl_off_t>(easy_, CURLINFO_NAMELOOKUP_TIME_T) == 0;
}

bool EasyHandle::connected() const {
  // Not the times of connect or handshake, which stay 0 on a connection that was kept.
  return info<curl_off_t>(easy_, CURLINFO_PRETRANSFER_TIME_T) > 0;
}

Arrival EasyHandle::arrival(int code) {
  if (receiver_.failure()) return {id_, *receiver_.failure()};
  if (!receiver_.refused()) {
    if (code != CURLE_OK) return {id_, failure(code)};
    if (const std::optional<Failure> wrong = receiver_.finish()) return {id_, *wrong};
  }
  if (receiver_.received() >= large_response) buffer_size_ = large_buffer;
  Response& response = receiver_.response();
  response.reused = info<long>(easy_, CURLINFO_NUM_CONNECTS) == 0;
  response.bytes_sent = info<long>(easy_, CURLINFO_REQUEST_SIZE);
  response.bytes_received = info<long>(easy_, CURLINFO_HEADER_SIZE) + receiver_.received();
  return {id_, std::move(response)};
}

WireFault EasyHandle::timeout() const {
  if (steady_clock::now() + milliseconds(2) >= deadline_) return WireFault::deadline;
  return connected() ? WireFault::stall : WireFault::connect_timeout;
}

FaultContext EasyHandle::context() const {
  FaultContext context;
  context.host = options_->host;
  context.ca_file = options_->ca_file;
  context.detail = error_text_.data();
  for (char& letter : context.detail) {
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';  // messages are one line
  }
  context.verify_result = info<long>(easy_, CURLINFO_SSL_VERIFYRESULT);
  context.proxy_status = info<long>(easy_, CURLINFO_HTTP_CONNECTCODE);
  context.max_body = options_->max_body;
  context.received = receiver_.received();
  if (resolving())
    context.phase = Phase::lookup;
  else if (connected())
    context.phase = context.received == 0 ? Phase::first_byte : Phase::body;
  else
    context.phase = info<long>(easy_, CURLINFO_LOCAL_PORT) > 0 ? Phase::handshake : Phase::connect;
  return context;
}

Failure EasyHandle::failure(int code) const {
  const FaultContext at = context();
  WireFault fault = fault_of(static_cast<CURLcode>(code));
  if (code == CURLE_OPERATION_TIMEDOUT) fault = timeout();
  const bool tunnel_refused = at.proxy_status >= 300 && !connected();
  if (fault == WireFault::broken_connection && tunnel_refused) fault = WireFault::proxy_refused;
  Failure result = failure_of(fault, at);
  result.bytes_received = at.received;
  return result;
}

}  // namespace tradingdata::detail
