// Memory that runs out in one thread: the tests' `operator new` throws where a test says so.
#pragma once

namespace failing_memory {

// The calling thread's next `count` allocations succeed, and all after them fail until `stop`.
void fail_after(int count) noexcept;

// Returns whether an allocation failed.
bool stop() noexcept;

}  // namespace failing_memory
