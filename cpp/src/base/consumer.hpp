// Who takes the body of one response. The decoder is the only one; it is declared here because the
// transport, which fills the body, knows nothing of tables.
#pragma once

#include <functional>
#include <memory>

#include "base/memory.hpp"

namespace tradingdata {

class Table;
class TokenSearch;
using TablePtr = std::shared_ptr<const Table>;

class Consumer {
 public:
  Consumer() = default;
  virtual ~Consumer() = default;
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // Sees the body each time that it has grown; may write to what has arrived.
  virtual void advance(Buffer& body) noexcept = 0;

  // Called once, with the complete body, which becomes the table's. What it throws ends the call,
  // unless it is an Error that is `incomplete`: then the body was cut.
  virtual TablePtr finish(Buffer body) = 0;
};

// Makes the consumer of one response. The tokens are never kept or shown; they may be null.
using ConsumerSource = std::function<std::unique_ptr<Consumer>(std::shared_ptr<TokenSearch>)>;

}  // namespace tradingdata
