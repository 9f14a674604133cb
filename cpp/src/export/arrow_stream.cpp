// The stream half of the Arrow interface: one batch, made before the stream is returned.
#include <cerrno>
#include <memory>
#include <new>
#include <utility>

#include "export/arrow_layout.hpp"

namespace tradingdata {

namespace {

struct StreamOwner {
  detail::Shape shape;
  ArrowArray batch{};

  StreamOwner() = default;
  StreamOwner(const StreamOwner&) = delete;
  StreamOwner& operator=(const StreamOwner&) = delete;
  ~StreamOwner() {
    if (batch.release != nullptr) batch.release(&batch);
  }
};

StreamOwner& owner_of(ArrowArrayStream* stream) {
  return *static_cast<StreamOwner*>(stream->private_data);
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  try {
    detail::write_schema(owner_of(stream).shape, *out);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

// The batch once, then released arrays: the end.
int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  *out = std::exchange(owner_of(stream).batch, ArrowArray{});
  return 0;
}

const char* get_last_error(ArrowArrayStream*) {
  return nullptr;
}

void release_stream(ArrowArrayStream* stream) {
  const std::unique_ptr<StreamOwner> owner(&owner_of(stream));
  stream->release = nullptr;
}

}  // namespace

void export_stream(const TablePtr& table, const ArrowExport& wanted, ArrowArrayStream& out) {
  auto owner = std::make_unique<StreamOwner>();
  owner->shape = detail::shape_of(*table, wanted);
  export_array(table, wanted, owner->batch);
  out = ArrowArrayStream{.get_schema = get_schema,
                         .get_next = get_next,
                         .get_last_error = get_last_error,
                         .release = release_stream,
                         .private_data = nullptr};
  out.private_data = owner.release();
}

}  // namespace tradingdata
