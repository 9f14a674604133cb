// A file descriptor that is readable while it is raised.
#pragma once

#include "base/platform/platform.hpp"

namespace tradingdata::detail {

class Notifier {
 public:
  Notifier();  // throws Error where no descriptor is available
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  int fd() const { return pipe_.read_end; }  // -1 on Windows: there, Worker::wait serves
  void raise() noexcept;                     // and lower, in turn
  void lower() noexcept;

 private:
  platform::Pipe pipe_;
};

}  // namespace tradingdata::detail
