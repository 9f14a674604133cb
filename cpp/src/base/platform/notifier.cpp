// A pipe with at most one byte in it, since event loops on POSIX systems can watch any
// descriptor.
#include "base/platform/notifier.hpp"

namespace tradingdata::detail {

Notifier::Notifier() : pipe_(platform::open_pipe()) {}

Notifier::~Notifier() {
  platform::close_pipe(pipe_);
}

void Notifier::raise() noexcept {
  platform::write_byte(pipe_);
}

void Notifier::lower() noexcept {
  platform::read_byte(pipe_);  // there is one: it is raised once before it is lowered
}

}  // namespace tradingdata::detail
