// Builds the three requests, and keeps idle engines so that the next call reuses their
// connections.
#include "client/client.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/platform.hpp"
#include "table/records.hpp"

namespace tradingdata {

namespace {

constexpr std::size_t most_idle = 32;
constexpr std::string_view json_type = "Content-Type: application/json";

void check(bool good, const char* rule) {
  if (!good) throw Error(ErrorKind::configuration, rule);
}

}  // namespace

Error closed_error() {
  return Error(ErrorKind::closed, "the client is closed: make a new one");
}

Client::Client(ClientOptions options) : options_(std::move(options)), base_url_(options_.base_url) {
  CurlOptions& curl = options_.curl;
  curl.host = base_url_.host();
  curl.port = base_url_.port();
  curl.allow_http = base_url_.loopback();
  curl.proxy = choose_proxy(base_url_, options_.proxy, options_.trust_env, options_.environment);
  idle_.reserve(most_idle);
}

Client::~Client() {
  close();
}

void Client::check_open() const {
  if (closed_) throw closed_error();
  if (detail::ending) throw Error(ErrorKind::closed, "the process is ending");
}

Call Client::new_call(const ServiceCall& declared, std::optional<double> timeout,
                      std::string account) const {
  check_open();
  const double seconds = timeout.value_or(options_.timeout);
  Call call;
  call.request.method = declared.method;
  call.request.url = base_url_.text();
  call.request.url += declared.path;
  call.request.known = tokens_;
  if (declared.takes_token) {
    call.request.token = tokens_->current();
    if (call.request.token == nullptr) {
      throw Error(ErrorKind::configuration, "the books need an access token", advice::access_token);
    }
  }
  if (declared.method == Method::get) call.request.headers.emplace_back("accept: application/json");
  call.request.headers.emplace_back(json_type);
  call.request.body = declared.body;
  call.started = options_.engine.sources.now();
  call.deadline = call.started + from_seconds(seconds);
  call.request.consumer = [&declared, strict = options_.strict, keep = options_.keep_personal_data,
                           account = std::move(account)](std::shared_ptr<TokenSearch> tokens) {
    return std::make_unique<Decoder>(*declared.schema, declared.form,
                                     DecodeOptions{strict, keep, std::move(tokens), account});
  };
  return call;
}

Call Client::book(const Schema& schema, std::optional<double> timeout, std::string account) const {
  const ServiceCall* const declared = call_of(schema);
  check(declared != nullptr && declared->form == Decoder::Form::book,
        "no call returns such a book");
  return new_call(*declared, timeout, std::move(account));
}

Call Client::search(std::string_view query, std::int64_t page, std::int64_t limit,
                    std::optional<double> timeout, bool ahead) const {
  check(query.find('\0') == std::string_view::npos, "query must not contain a NUL character");
  Call call = new_call(*call_of(stock_schema), timeout);
  call.request.url += "?query=" + percent_encoded(query) + "&page=" + std::to_string(page) +
                      "&limit=" + std::to_string(limit);
  if (ahead) call.start_by = call.started + (call.deadline - call.started) / 2;
  return call;
}

std::shared_ptr<Engine> Client::lease() {
  check_open();
  return {borrow().release(), [client = shared_from_this()](Engine* engine) {
            engine->cancel_all();
            client->give_back(std::unique_ptr<Engine>(engine));
          }};
}

std::unique_ptr<Engine> Client::make_engine() const {
  return std::make_unique<Engine>(options_.transport(options_.curl), options_.engine);
}

std::unique_ptr<Engine> Client::borrow() {
  {
    const std::scoped_lock lock(detail::process_mutex());
    if (!idle_.empty()) {
      std::unique_ptr<Engine> engine = std::move(idle_.back());
      idle_.pop_back();
      return engine;
    }
  }
  return make_engine();
}

void Client::give_back(std::unique_ptr<Engine> engine) noexcept {
  const std::scoped_lock lock(detail::process_mutex());
  if (!closed_ && idle_.size() < most_idle) idle_.push_back(std::move(engine));
}

void Client::close() {
  std::vector<std::unique_ptr<Engine>> engines;  // closed after the lock: that may talk TLS
  {
    const std::scoped_lock lock(detail::process_mutex());
    closed_ = true;
    engines = std::exchange(idle_, {});
  }
}

void Client::wait(Engine& engine, Duration patience) const {
  check_open();
  bool news = false;
  {
    const detail::Inside inside;
    news = engine.pump(engine.sources().now() + std::min(patience, slice_of_wait));
  }
  if (!news) check_open();
}

void end_all_calls(Duration patience) {
  detail::ends_process = true;
  detail::ending = true;
  const TimePoint until = std::chrono::steady_clock::now() + patience;
  while (detail::threads_inside > 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace tradingdata
