// Builds the trees of ArrowSchema and ArrowArray structures, and the stream of one batch.
#include "export/arrow.hpp"

#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "export/arrow_columns.hpp"

namespace tradingdata {

namespace {

using detail::Buffers;
using detail::ColumnSlice;
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
  TablePtr table;  // where the buffers lie in it
  Buffers buffers;
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
  out.null_count = owner->buffers.nulls;
  out.n_buffers = static_cast<std::int64_t>(owner->buffers.pointers.size());
  out.buffers = owner->buffers.pointers.data();
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

std::string format_of(Kind kind, TextForm form, const std::string& time_zone) {
  switch (kind) {
    case Kind::integer: return "l";
    case Kind::number: return "g";
    case Kind::timestamp: return "tsu:" + time_zone;
    case Kind::date: return "tdD";
    case Kind::text: break;
  }
  switch (form) {
    case TextForm::small: return "u";
    case TextForm::large: return "U";
    default: return "vu";
  }
}

// A complete book uses about a third of its memory: the rest is keys and other text of its body.
constexpr std::int64_t most_held_for_a_byte_used = 4;

std::int64_t bytes_held(const Table& table) {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : table.buffers()) bytes += buffer.size();
  for (const Field& field : table.schema().fields) bytes += width_of(field.kind) * table.capacity();
  return bytes;
}

// The part of a field's column that would be shared; its long text is in the table's buffers.
struct Use {
  std::int64_t values = 0;
  std::int64_t long_text = 0;
};

Use use_of(const Table& table, const ArrowColumn& column, const ArrowExport& wanted) {
  const Kind kind = table.schema().field(column.column).kind;
  if (kind == Kind::timestamp && wanted.offset) return {};
  if (kind != Kind::text) return {.values = wanted.length * width_of(kind)};
  if (column.text != TextForm::view) return {};
  Use use{.values = wanted.length * width_of(kind)};
  const auto* const views = table.column(column.column).as<TextView>() + wanted.start;
  for (std::int64_t row = 0; row < wanted.length; ++row) {
    if (!views[row].is_inline()) use.long_text += views[row].size;
  }
  return use;
}

// A small selection that shared its columns would keep a large table and its body alive.
bool worth_sharing(const Table& table, const ArrowExport& wanted) {
  constexpr std::int64_t most_in_a_copy = std::numeric_limits<std::int32_t>::max();
  const bool few_rows = wanted.length * 2 < table.rows();
  const std::int64_t held = bytes_held(table);
  std::int64_t used = 0;
  for (const ArrowColumn& column : wanted.columns) {
    const Use use = use_of(table, column, wanted);
    if (use.long_text > most_in_a_copy) return true;  // views reach no further into one buffer
    used += use.values + use.long_text;
    if (!few_rows && used * most_held_for_a_byte_used >= held) return true;
  }
  return false;
}

Buffers field_buffers(const Table& table, const ArrowColumn& column, const ArrowExport& wanted,
                      bool share, Arena& memory) {
  const Column& stored = table.column(column.column);
  const Kind kind = table.schema().field(column.column).kind;
  const std::int64_t before = wanted.start * width_of(kind);
  const ColumnSlice slice{.table = table,
                          .memory = memory,
                          .values = stored.values == nullptr ? nullptr : stored.values + before,
                          .validity = stored.nulls == 0 ? nullptr : stored.validity,
                          .first = wanted.start,
                          .length = wanted.length,
                          .kind = kind};
  if (kind == Kind::timestamp && wanted.offset) return instants(slice, wanted.offset);
  if (kind != Kind::text) return share ? shared_values(slice) : copied_values(slice);
  switch (column.text) {
    case TextForm::small: return detail::offset_text<std::int32_t>(slice);
    case TextForm::large: return detail::offset_text<std::int64_t>(slice);
    case TextForm::view: break;
  }
  return share ? shared_views(slice) : copied_views(slice);
}

void fill_column(ArrowArray& out, const TablePtr& table, const ArrowColumn& column,
                 const ArrowExport& wanted, bool share, Arena& memory) {
  auto owner = std::make_unique<ArrayOwner>();
  owner->buffers = field_buffers(*table, column, wanted, share, memory);
  if (owner->buffers.in_table) owner->table = table;
  fill(out, std::move(owner), wanted.length);
}

struct StreamOwner {
  const Schema* schema;
  ArrowExport wanted;  // without what calls Python: a consumer may have no GIL
  Taken<ArrowArray> batch;
};

StreamOwner& owner_of(ArrowArrayStream* stream) {
  return *static_cast<StreamOwner*>(stream->private_data);
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  try {
    export_schema(*owner_of(stream).schema, owner_of(stream).wanted, *out);
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

void export_array(const TablePtr& table, const ArrowExport& wanted, ArrowArray& out) {
  const bool share = worth_sharing(*table, wanted);
  // 16 bytes a cell: what a view or an offset with short text takes.
  Arena memory(wanted.length * static_cast<std::int64_t>(wanted.columns.size()) * 16);
  auto batch = std::make_unique<ArrayOwner>();
  batch->buffers.pointers.push_back(nullptr);  // no row of the batch itself is null
  batch->children.resize(wanted.columns.size());
  for (std::size_t i = 0; i < wanted.columns.size(); ++i) {
    fill_column(*batch->children[i], table, wanted.columns[i], wanted, share, memory);
  }
  fill(out, std::move(batch), wanted.length);
}

void export_schema(const Schema& schema, const ArrowExport& wanted, ArrowSchema& out) {
  auto batch = std::make_unique<SchemaOwner>();
  batch->format = "+s";
  batch->metadata = record_metadata(schema.record);
  batch->children.resize(wanted.columns.size());
  for (std::size_t i = 0; i < wanted.columns.size(); ++i) {
    const auto [column, text] = wanted.columns[i];
    const Kind kind = schema.field(column).kind;
    auto child = std::make_unique<SchemaOwner>();
    child->format = format_of(kind, text, wanted.time_zone);
    child->name = schema.field(column).name;
    fill(*batch->children[i], std::move(child), ARROW_FLAG_NULLABLE);
  }
  fill(out, std::move(batch), 0);
}

void export_stream(const TablePtr& table, const ArrowExport& wanted, ArrowArrayStream& out) {
  auto owner = std::make_unique<StreamOwner>();
  owner->schema = &table->schema();  // the rows may go before the stream
  owner->wanted = {.columns = wanted.columns, .time_zone = wanted.time_zone};
  export_array(table, wanted, *owner->batch);
  out = ArrowArrayStream{.get_schema = get_schema,
                         .get_next = get_next,
                         .get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; },
                         .release = release_stream,
                         .private_data = nullptr};
  out.private_data = owner.release();
}

}  // namespace tradingdata
