// Memory that runs out in one thread: the tests' `operator new` throws where a test says so. And
// what else a transport may throw.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>

#include "base/error.hpp"

namespace failing_memory {

// The calling thread's next `count` allocations succeed, and all after them fail until `stop`.
void fail_after(int count) noexcept;

// Returns whether an allocation failed.
bool stop() noexcept;

inline const std::exception_ptr exceptions[] = {
    std::make_exception_ptr(tradingdata::Error(tradingdata::ErrorKind::connect, "no socket")),
    std::make_exception_ptr(std::runtime_error("a defect")),
    std::make_exception_ptr(std::bad_alloc()), std::make_exception_ptr(42)};

}  // namespace failing_memory
