// All options of a transfer in one place. Those for safety (protocols, TLS, redirects) are set
// explicitly, because defaults differ between versions of libcurl.
#include "http/curl_easy.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "http/address.hpp"

#ifdef TRADINGDATA_OPENSSL
extern "C" __attribute__((weak)) int SSL_has_pending(const void* session);
#endif

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

#define TRADINGDATA_SET(option, value) set(raw(), option, value, #option)

// For options that only some TLS libraries have.
template <class Value>
void set_where_known(CURL* easy, CURLoption option, Value value, const char* name) {
  const CURLcode code = curl_easy_setopt(easy, option, value);
  if (code == CURLE_NOT_BUILT_IN || code == CURLE_UNKNOWN_OPTION) return;
  set(easy, option, value, name);
}

#define TRADINGDATA_SET_WHERE_KNOWN(option, value) set_where_known(raw(), option, value, #option)

template <class Value>
Value info(CURL* easy, CURLINFO what) {
  Value value{};
  curl_easy_getinfo(easy, what, &value);
  return value;
}

std::size_t on_header_line(char* data, std::size_t size, std::size_t count,
                           void* receiver) noexcept {
  const std::size_t bytes = size * count;
  return static_cast<Receiver*>(receiver)->header_line({data, bytes}) ? bytes : bytes + 1;
}

CURLcode on_handshake(CURL* /*easy*/, void* /*context*/, void* phase) noexcept {
  *static_cast<Phase*>(phase) = Phase::handshake;
  return CURLE_OK;
}

// Whether the TLS library holds bytes that it has read from the socket and libcurl has not taken.
// Only OpenSSL is asked.
bool holds_bytes([[maybe_unused]] CURL* easy) {
#ifdef TRADINGDATA_OPENSSL
  const auto* const session = info<curl_tlssessioninfo*>(easy, CURLINFO_TLS_SSL_PTR);
  if (&SSL_has_pending != nullptr && session != nullptr && session->internals != nullptr &&
      session->backend == CURLSSLBACKEND_OPENSSL) {
    return SSL_has_pending(session->internals) == 1;
  }
#endif
  return false;
}

void link(std::vector<HeaderNode>& list, const std::vector<const char*>& lines) {
  list.resize(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    list[i].data = const_cast<char*>(lines[i]);  // libcurl reads it only
    list[i].next = i + 1 < lines.size() ? &list[i + 1] : nullptr;
  }
}

}  // namespace

void OpenSockets::add(const Ends& ends, std::intptr_t socket) noexcept {
  try {
    if (sockets_.size() >= most) sockets_.clear();
    sockets_.insert_or_assign(ends, Socket{socket});
  } catch (const std::bad_alloc&) {
    sockets_.erase(ends);  // the next request takes a new connection
  }
}

OpenSockets::Socket* OpenSockets::find(const Ends& ends) noexcept {
  const auto found = sockets_.find(ends);
  return found == sockets_.end() ? nullptr : &found->second;
}

int Roots::look() {
  std::error_code unreadable;
  const auto time = std::filesystem::last_write_time(file_, unreadable);
  const auto size = unreadable ? 0 : std::filesystem::file_size(file_, unreadable);
  const Stamp stamp = unreadable ? Stamp() : Stamp({time, size});
  if (generation_ == 0 || stamp != stamp_) ++generation_;
  stamp_ = stamp;
  return generation_;
}

long ceil_milliseconds(Duration duration) {
  constexpr milliseconds longest = std::chrono::hours(24);
  const auto whole = std::chrono::ceil<milliseconds>(std::min<Duration>(duration, longest));
  return static_cast<long>(std::max<milliseconds::rep>(whole.count(), 1));
}

EasyHandle::EasyHandle(const CurlOptions& options, OpenSockets& open, Roots& roots)
    : options_(&options),
      open_(&open),
      roots_(&roots),
      easy_(curl_easy_init(), &curl_easy_cleanup) {
  static_assert(CURL_ERROR_SIZE <= std::tuple_size_v<decltype(error_text_)>);
  if (easy_ == nullptr) throw std::bad_alloc();
  set_fixed_options();
  curl_header* none = nullptr;
  if (curl_easy_header(raw(), "Date", 0, CURLH_HEADER, -1, &none) == CURLHE_NOT_BUILT_IN) {
    throw Error(ErrorKind::configuration,
                "the libcurl in use was built without its header API: install another one");
  }
}

EasyHandle::~EasyHandle() = default;

EasyHandle& EasyHandle::of(void* easy) {
  return *static_cast<EasyHandle*>(info<void*>(easy, CURLINFO_PRIVATE));
}

void EasyHandle::set_fixed_options() {
  TRADINGDATA_SET(CURLOPT_NOSIGNAL, 1L);
  TRADINGDATA_SET(CURLOPT_QUICK_EXIT, 1L);
  TRADINGDATA_SET(CURLOPT_PROTOCOLS_STR, options_->allow_http ? "http,https" : "https");
  TRADINGDATA_SET(CURLOPT_REDIR_PROTOCOLS_STR, "https");
  TRADINGDATA_SET(CURLOPT_FOLLOWLOCATION, 0L);
  TRADINGDATA_SET(CURLOPT_UNRESTRICTED_AUTH, 0L);
  TRADINGDATA_SET(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  TRADINGDATA_SET(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_NONE));
  TRADINGDATA_SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  const ProxyChoice& proxy = options_->proxy;
  TRADINGDATA_SET(CURLOPT_PROXY, proxy.proxy.c_str());
  TRADINGDATA_SET(CURLOPT_NOPROXY, proxy.no_proxy.c_str());
  if (proxy.user) TRADINGDATA_SET(CURLOPT_PROXYUSERNAME, proxy.user->c_str());
  if (proxy.password) TRADINGDATA_SET(CURLOPT_PROXYPASSWORD, proxy.password->c_str());
  TRADINGDATA_SET(CURLOPT_HTTPPROXYTUNNEL, 1L);
  TRADINGDATA_SET(CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));
  TRADINGDATA_SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  TRADINGDATA_SET(CURLOPT_SSL_VERIFYPEER, 1L);
  TRADINGDATA_SET(CURLOPT_SSL_VERIFYHOST, 2L);
  TRADINGDATA_SET(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set_roots();
  TRADINGDATA_SET(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(options_->max_body));
  TRADINGDATA_SET(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  TRADINGDATA_SET(CURLOPT_HTTP09_ALLOWED, 0L);
  TRADINGDATA_SET(CURLOPT_HTTP_CONTENT_DECODING, 0L);  // the receiver unpacks, and checks the end
  TRADINGDATA_SET(CURLOPT_TCP_NODELAY, 1L);
  TRADINGDATA_SET(CURLOPT_TCP_KEEPALIVE, 1L);
  TRADINGDATA_SET(CURLOPT_MAXAGE_CONN, 60L);
  TRADINGDATA_SET(CURLOPT_MAXLIFETIME_CONN, 600L);
  TRADINGDATA_SET(CURLOPT_USERAGENT, options_->user_agent.c_str());
  TRADINGDATA_SET(CURLOPT_ERRORBUFFER, error_text_.data());
  TRADINGDATA_SET(CURLOPT_PRIVATE, static_cast<void*>(this));
  constexpr curl_sockopt_callback on_socket = [](void* self, curl_socket_t socket,
                                                 curlsocktype /*purpose*/) noexcept -> int {
    const bool may = static_cast<EasyHandle*>(self)->opens(static_cast<std::intptr_t>(socket));
    return may ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR;
  };
  TRADINGDATA_SET(CURLOPT_SOCKOPTFUNCTION, on_socket);
  TRADINGDATA_SET(CURLOPT_SOCKOPTDATA, static_cast<void*>(this));
  TRADINGDATA_SET_WHERE_KNOWN(CURLOPT_SSL_CTX_FUNCTION, &on_handshake);
  TRADINGDATA_SET_WHERE_KNOWN(CURLOPT_SSL_CTX_DATA, static_cast<void*>(&phase_));
  TRADINGDATA_SET(CURLOPT_PREREQFUNCTION, &EasyHandle::on_connected);
  TRADINGDATA_SET(CURLOPT_PREREQDATA, static_cast<void*>(this));
  TRADINGDATA_SET(CURLOPT_HEADERFUNCTION, &on_header_line);
  TRADINGDATA_SET(CURLOPT_HEADERDATA, static_cast<void*>(&receiver_));
  TRADINGDATA_SET(CURLOPT_WRITEFUNCTION, &EasyHandle::on_body);
  TRADINGDATA_SET(CURLOPT_WRITEDATA, static_cast<void*>(this));
}

int EasyHandle::on_connected(void* self, char* to, char* from, int to_port,
                             int from_port) noexcept {
  EasyHandle& handle = *static_cast<EasyHandle*>(self);
  Ends ends{};
  std::snprintf(ends.data(), ends.size(), "%s %d %s %d", to, to_port, from, from_port);
  if (!handle.may_send(ends, from_port)) return CURL_PREREQFUNC_ABORT;
  handle.phase_ = Phase::first_byte;
  return CURL_PREREQFUNC_OK;
}

// A transfer's phase comes from callbacks and not from the times and ports that libcurl reports:
// since 8.0 those stay unset on a reused connection, or until the handshake has ended.
//
// libcurl's time limit of a connection includes the lookup, and it divides that limit among the
// addresses before it opens the first socket. So a transfer that has to look a name up has until
// the deadline for it, ends at its first socket, and starts again: it then knows the addresses.
bool EasyHandle::opens(std::intptr_t socket) noexcept {
  if (!looked_up_ || looked_up_now_) {
    looked_up_ = looked_up_now_ = true;
    curl_easy_setopt(raw(), CURLOPT_DNS_CACHE_TIMEOUT, kept_addresses);
    return false;
  }
  phase_ = Phase::connect;
  new_sockets_[opened_++ % new_sockets_.size()] = socket;
  return true;
}

// A file that is named replaces the system's roots, and libcurl's own defaults; folders add to
// them.
void EasyHandle::set_roots() {
  if (options_->ca_file.empty()) {
    // OpenSSL uses the roots of Windows only on request.
    constexpr long system_roots = CURLSSLOPT_NATIVE_CA;
    TRADINGDATA_SET_WHERE_KNOWN(CURLOPT_SSL_OPTIONS, system_roots);
    TRADINGDATA_SET_WHERE_KNOWN(CURLOPT_PROXY_SSL_OPTIONS, system_roots);
    if (options_->ca_folders.empty()) return;
  }
  const std::string& pem = options_->ca_pem;
  curl_blob content{const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_COPY};
  if (pem.empty()) {
    const char* const file = options_->ca_file.empty() ? nullptr : options_->ca_file.c_str();
    TRADINGDATA_SET(CURLOPT_CAINFO, file);
    TRADINGDATA_SET(CURLOPT_PROXY_CAINFO, file);
  } else {
    TRADINGDATA_SET(CURLOPT_CAINFO_BLOB, &content);
    TRADINGDATA_SET(CURLOPT_PROXY_CAINFO_BLOB, &content);
  }
  // Schannel and others read no folder of roots.
  const char* const folders = options_->ca_folders.empty() ? nullptr : options_->ca_folders.c_str();
  TRADINGDATA_SET_WHERE_KNOWN(CURLOPT_CAPATH, folders);
  TRADINGDATA_SET_WHERE_KNOWN(CURLOPT_PROXY_CAPATH, folders);
}

// libcurl parses a file of roots once a day, since that takes longer than all else of a connection.
void EasyHandle::notice_replaced_roots() {
  const int generation = roots_->look();
  if (std::exchange(roots_generation_, generation) == generation) return;
  // Once a file has been replaced, libcurl keeps neither what it parsed of one nor a session, which
  // would bring the trust in certificates of an earlier file along.
  const bool first = roots_generation_ == 1;
  constexpr long day = 24 * 60 * 60;
  TRADINGDATA_SET_WHERE_KNOWN(CURLOPT_CA_CACHE_TIMEOUT, first ? day : 0L);
  TRADINGDATA_SET_WHERE_KNOWN(CURLOPT_SSL_SESSIONID_CACHE, first ? 1L : 0L);
}

bool EasyHandle::may_send(const Ends& ends, int own_port) noexcept {
  const bool kept = phase_ == Phase::lookup;  // its handshake was in an earlier transfer
  for (std::size_t i = 0; !kept && i < std::min(opened_, new_sockets_.size()); ++i) {
    if (local_port(new_sockets_[i]) == own_port) open_->add(ends, new_sockets_[i]);
  }
  OpenSockets::Socket* const socket = open_->find(ends);
  // What has arrived on a kept connection since would be taken for the response. It may also be the
  // connection's end, or a TLS session ticket.
  refused_connection_ = kept && (socket == nullptr || readable(socket->id) || holds_bytes(raw()));
  if (refused_connection_) return false;
  if (socket != nullptr && std::exchange(socket->patience, patience_) != patience_) {
    notice_dead_peer(socket->id, patience_);
  }
  return true;
}

std::size_t EasyHandle::on_body(char* data, std::size_t size, std::size_t count,
                                void* self) noexcept {
  EasyHandle& handle = *static_cast<EasyHandle*>(self);
  const std::size_t bytes = size * count;
  return handle.read_head() && handle.receiver_.body({data, bytes}) ? bytes : bytes + 1;
}

bool EasyHandle::read_head() noexcept {
  const auto status = static_cast<int>(info<long>(raw(), CURLINFO_RESPONSE_CODE));
  if (receiver_.has_head() || status < 200) return true;  // the head of an interim response
  const auto header = [this](const char* name, std::size_t i) -> std::optional<std::string_view> {
    curl_header* found = nullptr;
    constexpr int final_response = -1;
    if (curl_easy_header(raw(), name, i, CURLH_HEADER, final_response, &found) != CURLHE_OK) {
      return std::nullopt;
    }
    return trimmed(found->value);  // of an empty value libcurl keeps the end of its line
  };
  return receiver_.head(status, header);
}

void EasyHandle::prepare(CallId id, const Request& request, const TimeLimits& limits,
                         bool look_up) {
  id_ = id;
  request_ = &request;
  deadline_ = steady_clock::now() + limits.total;
  connect_limit_ = limits.connect;
  error_text_[0] = '\0';
  phase_ = Phase::lookup;
  looked_up_ = false;
  looked_up_now_ = false;
  refused_connection_ = false;
  opened_ = 0;
  // A quarter, since systems take up to half as long again: a third in all. In tenths of a second,
  // so that the next call, which has nearly as long, changes no setting.
  patience_ = std::chrono::ceil<std::chrono::duration<long, std::deci>>(limits.total / 4);
  receiver_.start(options_->max_body, &request);

  std::vector<const char*> lines;
  bool accepts = false;
  for (const std::string& header : request.headers) {
    lines.push_back(header.c_str());
    accepts = accepts || header.starts_with("accept:");
  }
  if (request.token) lines.push_back(request.token->header());
  lines.push_back("Accept-Encoding: gzip");
  // A name without a value tells libcurl not to send its own; a later one does not undo a real one.
  if (!accepts) lines.push_back("Accept:");
  link(headers_, lines);
  TRADINGDATA_SET(CURLOPT_URL, request.url.c_str());
  TRADINGDATA_SET(CURLOPT_HTTPHEADER, static_cast<curl_slist*>(headers_.data()));
  if (request.method == Method::post) {
    TRADINGDATA_SET(CURLOPT_POST, 1L);
    TRADINGDATA_SET(CURLOPT_POSTFIELDS, request.body.c_str());
    TRADINGDATA_SET(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  } else {
    TRADINGDATA_SET(CURLOPT_HTTPGET, 1L);
  }
  // Unchecked: libcurl 7.88 refuses it while a handle still holds the buffer of a transfer that was
  // given up during its name lookup, and that buffer serves as well.
  curl_easy_setopt(raw(), CURLOPT_BUFFERSIZE, buffer_size_);
  TRADINGDATA_SET(CURLOPT_DNS_CACHE_TIMEOUT, look_up ? 0L : kept_addresses);
  set_time_limits();
}

void EasyHandle::prepare_again() {
  if (looked_up_now_) notice_replaced_roots();  // for the connection that will be opened
  looked_up_now_ = false;
  refused_connection_ = false;
  phase_ = Phase::lookup;
  set_time_limits();
}

void EasyHandle::set_time_limits() {
  const Duration total = deadline_ - steady_clock::now();
  TRADINGDATA_SET(CURLOPT_TIMEOUT_MS, ceil_milliseconds(total));
  TRADINGDATA_SET(CURLOPT_CONNECTTIMEOUT_MS,
                  ceil_milliseconds(looked_up_ ? std::min(connect_limit_, total) : total));
}

void EasyHandle::forget_request() {
  curl_easy_setopt(raw(), CURLOPT_HTTPHEADER, nullptr);
  curl_easy_setopt(raw(), CURLOPT_POSTFIELDS, nullptr);
  request_ = nullptr;
}

bool EasyHandle::ended_by_closing(int code) const {
  // Newer versions of libcurl refuse the end of a TLS connection without close_notify. The end of a
  // body that no length delimits shows in its JSON.
  return code == CURLE_RECV_ERROR && receiver_.close_delimited();
}

Arrival EasyHandle::arrival(int code) {
  if (receiver_.failure()) return {id_, *receiver_.failure()};
  // The status counts even where libcurl stopped at the head's first malformed line.
  const bool malformed = code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_BAD_CONTENT_ENCODING;
  if ((receiver_.lines_ended() || malformed) && !read_head()) return {id_, *receiver_.failure()};
  if (!receiver_.refused()) {
    const bool ended = receiver_.complete() || ended_by_closing(code);
    if (code != CURLE_OK && !ended) return {id_, failure(code)};
    if (const std::optional<Failure> wrong = receiver_.finish()) return {id_, *wrong};
  }
  if (receiver_.received() >= large_response) buffer_size_ = large_buffer;
  return {id_, std::move(receiver_.response())};
}

// Whether the transfer goes through the proxy. libcurl before 8.7 only says so in its messages.
bool EasyHandle::uses_proxy(const std::string& address) const {
  constexpr auto used_proxy = static_cast<CURLINFO>(CURLINFO_LONG + 66);
  const ProxyChoice& proxy = options_->proxy;
  if (proxy.proxy.empty() || proxy.no_proxy.empty()) return !proxy.proxy.empty();
  long used = 0;
  if (curl_easy_getinfo(raw(), used_proxy, &used) == CURLE_OK) return used != 0;
  const std::string_view text = error_text_.data();
  return text.find(address.substr(0, address.rfind(':'))) != std::string_view::npos;
}

Failure EasyHandle::failure(int code) const {
  TransferEnd end;
  end.code = code;
  end.host = options_->host;
  end.port = options_->port;
  end.ca_file = options_->ca_file;
  end.detail = error_text_.data();
  for (char& letter : end.detail) {
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';  // messages are one line
  }
  const std::string& proxy = options_->proxy.proxy;
  const std::string address = proxy.substr(std::min(proxy.find("://") + 3, proxy.size()));
  if (uses_proxy(address)) end.proxy = address;
  end.proxy_status = info<long>(raw(), CURLINFO_HTTP_CONNECTCODE);
  const bool socks = proxy.starts_with("socks");
  end.at_proxy = !end.proxy.empty() && !connected() && end.proxy_status == 0 &&
                 !(socks && phase_ == Phase::handshake);
  end.max_body = options_->max_body;
  end.received = receiver_.received();
  end.phase = connected() && end.received > 0 ? Phase::body : phase_;
  end.past_deadline = steady_clock::now() + milliseconds(2) >= deadline_;
  return failure_of(end);
}

}  // namespace tradingdata::detail
