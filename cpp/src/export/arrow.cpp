// Builds the trees of ArrowSchema and ArrowArray structures, and the stream of one batch.
#include "export/arrow.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/memory.hpp"

namespace tradingdata {

namespace {

using detail::Taken;

// What a structure points into. A consumer may have moved children out, and then owns them.
template <typename Structure>
struct Owner {
  std::vector<Taken<Structure>> children;
  std::vector<Structure*> child_pointers;
};

struct SchemaOwner : Owner<ArrowSchema> {
  std::string format;
  std::string name;
  std::string metadata;
};

struct ArrayOwner : Owner<ArrowArray> {
  std::vector<const void*> buffers;
  std::vector<std::int64_t> sizes;     // of the buffers of long text
  std::shared_ptr<const void> memory;  // where all buffers are: the table, or a block of copies
};

template <typename Structure, typename Owned>
void pass_to(Structure& out, std::unique_ptr<Owned> owner) {
  for (auto& child : owner->children) owner->child_pointers.push_back(child.get());
  out.n_children = static_cast<std::int64_t>(owner->children.size());
  out.children = owner->child_pointers.empty() ? nullptr : owner->child_pointers.data();
  out.release = [](Structure* structure) {
    const std::unique_ptr<Owned> released(static_cast<Owned*>(structure->private_data));
    structure->release = nullptr;
  };
  out.private_data = owner.release();
}

void fill(ArrowSchema& out, std::unique_ptr<SchemaOwner> owner, std::int64_t flags) {
  out = {};
  out.format = owner->format.c_str();
  out.name = owner->name.c_str();
  out.metadata = owner->metadata.empty() ? nullptr : owner->metadata.data();
  out.flags = flags;
  pass_to(out, std::move(owner));
}

void fill(ArrowArray& out, std::unique_ptr<ArrayOwner> owner, std::int64_t length) {
  out = {};
  out.length = length;
  out.n_buffers = static_cast<std::int64_t>(owner->buffers.size());
  out.buffers = owner->buffers.data();
  pass_to(out, std::move(owner));
}

void append_counted(std::string& out, std::string_view text) {
  const auto size = static_cast<std::int32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += text;
}

// Key and value in the interface's form: counts in the machine's byte order.
std::string record_metadata(std::string_view record) {
  const std::int32_t pairs = 1;
  std::string metadata(reinterpret_cast<const char*>(&pairs), sizeof pairs);
  append_counted(metadata, "tradingdata.record");
  append_counted(metadata, record);
  return metadata;
}

std::string format_of(Kind kind, const ArrowForm& form) {
  const bool plain = form.types == ArrowTypes::plain;
  switch (kind) {
    case Kind::integer: return "l";
    case Kind::number: return "g";
    case Kind::timestamp: return "tsu:" + form.time_zone;
    case Kind::date: return form.types == ArrowTypes::pandas ? "tsu:" : "tdD";
    case Kind::text: break;
  }
  return form.types == ArrowTypes::shared ? "vu" : plain ? "u" : "U";
}

// Some consumers refuse a missing buffer even where there are no rows.
const void* present(const void* values) {
  alignas(64) static constexpr std::byte nothing[64] = {};
  return values == nullptr ? nothing : values;
}

// Makes the arrays of the columns. They begin up to 63 rows before the wanted ones, which their
// offset skips, so that bitmaps can be taken from a word on. All copies are in one block.
class ArrayMaker {
 public:
  ArrayMaker(const Rows& rows, ArrowTypes types) : rows_(rows), types_(types) {
    std::int64_t bytes = 0;
    for (const int field : rows.columns) bytes += bytes_to_copy(field);
    if (bytes == 0) return;
    copies_ = std::shared_ptr<void>(allocate_block(bytes), free_block);
    free_ = static_cast<std::byte*>(copies_.get());
  }

  void make(ArrowArray& out, int field) {
    const Column& column = rows_.table->column(field);
    const Kind kind = kind_of(field);
    auto owner = std::make_unique<ArrayOwner>();
    if (!copies(kind)) {
      share(*owner, column, kind);
    } else {
      owner->memory = copies_;
      owner->buffers.push_back(column.nulls == 0 ? nullptr : copied_validity(column));
      if (kind == Kind::timestamp) {
        owner->buffers.push_back(instants(column));
      } else if (kind == Kind::date) {
        owner->buffers.push_back(midnights(column));
      } else if (types_ == ArrowTypes::plain) {
        put_text<std::int32_t>(*owner, column);
      } else {
        put_text<std::int64_t>(*owner, column);
      }
    }
    fill(out, std::move(owner), rows_.size());
    out.offset = rows_.start - first_;
    // The nulls of a part are for the consumer to count.
    const bool counted = column.nulls == 0 || rows_.size() == rows_.table->rows();
    out.null_count = counted ? column.nulls : -1;
  }

 private:
  static constexpr std::int64_t word_bits = 64;
  static constexpr std::int64_t short_text = 32;  // bytes of most text

  Kind kind_of(int field) const { return rows_.table->schema().field(field).kind; }
  bool copies(Kind kind) const {
    if (kind == Kind::date) return types_ == ArrowTypes::pandas;
    return kind == Kind::text ? types_ != ArrowTypes::shared
                              : kind == Kind::timestamp && rows_.offset;
  }
  const TextView* views(const Column& column) const { return column.as<TextView>() + first_; }
  const std::uint64_t* validity(const Column& column) const {
    return column.validity + first_ / word_bits;
  }

  // At least as much as is taken: a piece ends with a whole line.
  std::int64_t bytes_to_copy(int field) const {
    const Kind kind = kind_of(field);
    if (!copies(kind)) return 0;
    constexpr std::int64_t pieces = 3;
    std::int64_t bytes = pieces * block_alignment + count_ / 8 + (count_ + 1) * 8;
    if (kind != Kind::text) return bytes;
    std::int64_t text = short_text;
    for (std::int64_t row = 0; row < count_; ++row)
      text += views(rows_.table->column(field))[row].size;
    if (types_ == ArrowTypes::plain && text > std::numeric_limits<std::int32_t>::max()) {
      throw Error(ErrorKind::configuration, "a column's text is too long for 32-bit offsets");
    }
    return bytes + text;
  }

  template <typename T>
  T* take(std::int64_t count) {
    const auto bytes = count * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t lines = (bytes + block_alignment - 1) / block_alignment;
    return reinterpret_cast<T*>(std::exchange(free_, free_ + lines * block_alignment));
  }

  void share(ArrayOwner& owner, const Column& column, Kind kind) const {
    owner.memory = rows_.table;
    owner.buffers.push_back(column.nulls == 0 ? nullptr : validity(column));
    owner.buffers.push_back(present(column.values + first_ * width_of(kind)));
    if (kind != Kind::text) return;
    for (const Buffer& buffer : rows_.table->buffers()) {
      owner.buffers.push_back(present(buffer.data()));
      owner.sizes.push_back(buffer.size());
    }
    owner.buffers.push_back(present(owner.sizes.data()));
  }

  const void* copied_validity(const Column& column) {
    const std::int64_t words = (count_ + word_bits - 1) / word_bits;
    auto* const copy = take<std::uint64_t>(words);
    std::copy_n(validity(column), words, copy);
    return copy;
  }

  const void* instants(const Column& column) {
    auto* const micros = take<std::int64_t>(count_);
    for (std::int64_t row = 0; row < count_; ++row) {
      const std::int64_t time = column.as<std::int64_t>()[first_ + row];
      micros[row] = column.valid(first_ + row) ? time - rows_.offset(time) : 0;
    }
    return micros;
  }

  const void* midnights(const Column& column) {
    auto* const micros = take<std::int64_t>(count_);
    const auto* const days = column.as<std::int32_t>() + first_;
    for (std::int64_t row = 0; row < count_; ++row) micros[row] = days[row] * micros_per_day;
    return micros;
  }

  template <typename Offset>
  void put_text(ArrayOwner& owner, const Column& column) {
    auto* const ends = take<Offset>(count_ + 1);
    auto* const begin = reinterpret_cast<char*>(free_);
    char* at = begin;
    for (std::int64_t row = 0; row < count_; ++row) {
      ends[row] = static_cast<Offset>(at - begin);
      const TextView& view = views(column)[row];
      // As many bytes are copied whatever the length is: the next text overwrites the rest, and a
      // buffer has padding.
      if (view.is_inline()) {
        std::memcpy(at, view.inlined, TextView::inline_capacity);
      } else {
        const std::string_view text = rows_.table->text(view);
        std::memcpy(at, text.data(), short_text);
        if (text.size() > std::size_t{short_text}) std::memcpy(at, text.data(), text.size());
      }
      at += view.size;
    }
    ends[count_] = static_cast<Offset>(at - begin);
    take<char>(at - begin + short_text);
    owner.buffers.insert(owner.buffers.end(), {ends, begin});
  }

  const Rows& rows_;
  ArrowTypes types_;
  // Of no rows, an offset would be beyond the buffers.
  const std::int64_t first_ = rows_.size() == 0 ? rows_.start : rows_.start / word_bits * word_bits;
  const std::int64_t count_ = rows_.stop - first_;
  std::shared_ptr<void> copies_;
  std::byte* free_ = nullptr;
};

struct StreamOwner {
  SchemaPtr schema;  // the rows may go before the stream
  std::vector<int> columns;
  ArrowForm form;
  Taken<ArrowArray> batch;
};

void export_schema(const StreamOwner& stream, ArrowSchema& out) {
  auto batch = std::make_unique<SchemaOwner>();
  batch->format = "+s";
  batch->metadata = record_metadata(stream.schema->record);
  batch->children.resize(stream.columns.size());
  for (std::size_t i = 0; i < stream.columns.size(); ++i) {
    const Field& field = stream.schema->field(stream.columns[i]);
    auto child = std::make_unique<SchemaOwner>();
    child->format = format_of(field.kind, stream.form);
    child->name = field.name;
    fill(*batch->children[i], std::move(child), ARROW_FLAG_NULLABLE);
  }
  fill(out, std::move(batch), 0);
}

StreamOwner& owner_of(ArrowArrayStream* stream) {
  return *static_cast<StreamOwner*>(stream->private_data);
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  try {
    export_schema(owner_of(stream), *out);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

// The batch once, then released arrays: the end.
int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  *out = std::exchange(*owner_of(stream).batch, ArrowArray{});
  return 0;
}

void release_stream(ArrowArrayStream* stream) {
  const std::unique_ptr<StreamOwner> owner(&owner_of(stream));
  stream->release = nullptr;
}

}  // namespace

void export_stream(const Rows& rows, const ArrowForm& form, ArrowArrayStream& out) {
  auto owner = std::make_unique<StreamOwner>();
  owner->schema = shared(rows.table->schema());
  owner->columns = rows.columns;
  owner->form = form;
  ArrayMaker arrays(rows, form.types);
  auto batch = std::make_unique<ArrayOwner>();
  batch->buffers.push_back(nullptr);  // no row of the batch itself is null
  batch->children.resize(rows.columns.size());
  for (std::size_t i = 0; i < rows.columns.size(); ++i) {
    arrays.make(*batch->children[i], rows.columns[i]);
  }
  fill(*owner->batch, std::move(batch), rows.size());
  out = ArrowArrayStream{.get_schema = get_schema,
                         .get_next = get_next,
                         .get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; },
                         .release = release_stream,
                         .private_data = nullptr};
  out.private_data = owner.release();
}

}  // namespace tradingdata
