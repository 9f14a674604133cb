// A file descriptor that is readable while it is raised.
#pragma once

namespace tradingdata::detail {

class Notifier {
 public:
  Notifier();  // throws Error where no descriptor is available
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  int fd() const { return read_end_; }
  void raise() noexcept;  // and lower, in turn
  void lower() noexcept;

 private:
  int read_end_ = -1;
  [[maybe_unused]] int write_end_ = -1;  // Windows has no descriptor to watch
};

}  // namespace tradingdata::detail
