// The client of one account: makes the service's three requests, and lends engines to carry them.
// Many threads may use one client; they share only its token, quota and rate limit.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/calls.hpp"
#include "client/engine.hpp"
#include "decode/decode.hpp"
#include "http/address.hpp"
#include "privacy/tokens.hpp"
#include "table/schema.hpp"

namespace tradingdata {

struct ClientOptions {
  std::string base_url;
  double timeout = 30;   // seconds, over all attempts of a call
  EngineOptions engine;  // its connect_timeout counts from the end of the lookup on
  CurlOptions curl;      // of which the client sets the host, its port, `allow_http` and `proxy`
  std::optional<std::string> proxy;
  bool trust_env = true;
  bool strict = false;
  bool keep_personal_data = false;

  // Replaced by tests.
  Environment environment = process_environment();
  std::function<std::unique_ptr<Transport>(const CurlOptions&)> transport = make_curl_transport;
};

Error closed_error();  // of what is called on a closed client, or was in flight when it closed

// The longest time that a caller waits in one piece.
inline constexpr Duration slice_of_wait = std::chrono::milliseconds(50);

class Client : public std::enable_shared_from_this<Client> {
 public:
  // Throws Error (configuration).
  explicit Client(ClientOptions options);
  ~Client();

  // Takes effect with the next call that is made. True if the token is a different one.
  bool set_token(std::string_view token) { return tokens_->set(token); }
  void clear_token() { tokens_->clear(); }
  bool has_token() const { return tokens_->current() != nullptr; }

  // One call each, for any engine of this client; `timeout` in seconds. They throw Error:
  // `configuration` (no token, bad arguments), `closed`.
  // `account` is the label of the rows.
  Call book(const Schema& schema, std::optional<double> timeout = {},
            std::string account = {}) const;
  // A page that is requested ahead of its reader leaves slots of the rate limit for the page that
  // the reader waits for, which would otherwise get one just before its deadline.
  Call search(std::string_view query, std::int64_t page, std::int64_t limit,
              std::optional<double> timeout = {}, bool ahead = false) const;

  // An engine of the caller's own until it is released: one thread at a time.
  std::shared_ptr<Engine> lease();
  // Pumps it for at most one slice, or until something happened. Throws Error (closed).
  void wait(Engine& engine, Duration patience) const;
  std::unique_ptr<Engine> make_engine() const;  // never pooled

  // No more calls: those that wait end with an Error (closed) within a slice. May be called twice.
  void close();
  bool closed() const { return closed_; }
  void check_open() const;  // throws Error (closed), also when the process is ending

  const ClientOptions& options() const { return options_; }

 private:
  Call new_call(const ServiceCall& declared, std::optional<double> timeout,
                std::string account = {}) const;
  std::unique_ptr<Engine> borrow();
  void give_back(std::unique_ptr<Engine> engine) noexcept;

  ClientOptions options_;
  BaseUrl base_url_;
  std::shared_ptr<Tokens> tokens_ = std::make_shared<Tokens>();
  // Guarded by the process mutex; the last one used is the first one taken.
  std::vector<std::unique_ptr<Engine>> idle_;
  std::atomic<bool> closed_ = false;
};

// Ends every wait in this process with an Error (closed), for good, and returns when no thread is
// inside a transfer any more or `patience` passed. Called before the process ends.
void end_all_calls(Duration patience);

}  // namespace tradingdata
