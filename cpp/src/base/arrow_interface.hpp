// The structures of the Arrow C data interface, which Arrow's specification asks every library to
// copy, and their owner.
#pragma once

#include <cstdint>
#include <utility>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_NULLABLE 2

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

}  // extern "C"

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

extern "C" {

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"

#endif  // ARROW_C_STREAM_INTERFACE

namespace tradingdata::detail {

// Owns a structure, perhaps taken over from its producer, and releases it once.
template <typename Structure>
class Taken {
 public:
  Taken() = default;
  explicit Taken(Structure& from) : structure_(std::exchange(from, Structure{})) {}
  Taken(Taken&& other) noexcept : structure_(std::exchange(other.structure_, Structure{})) {}
  Taken& operator=(Taken&& other) noexcept {
    std::swap(structure_, other.structure_);
    return *this;
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() {
    if (structure_.release != nullptr) structure_.release(&structure_);
  }

  Structure* get() { return &structure_; }
  const Structure* operator->() const { return &structure_; }
  Structure& operator*() { return structure_; }
  const Structure& operator*() const { return structure_; }

 private:
  Structure structure_{};
};

}  // namespace tradingdata::detail
