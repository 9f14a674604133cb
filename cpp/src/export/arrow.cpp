// Builds the tree of ArrowArray structures. Each one keeps the table alive, because consumers may
// move children out of their parent.
#include "export/arrow.hpp"

#include <cstring>
#include <memory>
#include <utility>

#include "export/arrow_columns.hpp"
#include "export/arrow_sharing.hpp"

namespace tradingdata {

namespace {

using detail::Buffers;
using detail::Source;

// What an ArrowArray points into. A consumer may have moved children out, and then owns them.
struct ArrayOwner {
  TablePtr table;  // where the buffers lie in it
  Buffers buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> child_pointers;
  ArrowArray dictionary{};

  ArrayOwner() = default;
  ArrayOwner(const ArrayOwner&) = delete;
  ArrayOwner& operator=(const ArrayOwner&) = delete;
  ~ArrayOwner() {
    for (ArrowArray& child : children) {
      if (child.release != nullptr) child.release(&child);
    }
    if (dictionary.release != nullptr) dictionary.release(&dictionary);
  }
};

void release_array(ArrowArray* array) {
  const std::unique_ptr<ArrayOwner> owner(static_cast<ArrayOwner*>(array->private_data));
  array->release = nullptr;
}

void fill(ArrowArray& out, std::unique_ptr<ArrayOwner> owner, std::int64_t length) {
  for (ArrowArray& child : owner->children) owner->child_pointers.push_back(&child);
  const bool has_dictionary = owner->dictionary.release != nullptr;
  out = ArrowArray{
      .length = length,
      .null_count = owner->buffers.nulls,
      .offset = 0,
      .n_buffers = static_cast<std::int64_t>(owner->buffers.pointers.size()),
      .n_children = static_cast<std::int64_t>(owner->children.size()),
      .buffers = owner->buffers.pointers.data(),
      .children = owner->child_pointers.empty() ? nullptr : owner->child_pointers.data(),
      .dictionary = has_dictionary ? &owner->dictionary : nullptr,
      .release = release_array,
      .private_data = nullptr,
  };
  out.private_data = owner.release();
}

// An unknown field as a text column of its own: views of its JSON, null where a row has none.
struct ExtraColumn {
  SharedBlock views;
  SharedBlock validity;
};

SharedBlock zeroed(Arena& memory, std::int64_t bytes) {
  SharedBlock block = memory.take(bytes);
  std::memset(block.get(), 0, static_cast<std::size_t>(bytes));
  return block;
}

ExtraColumn collect(const Table& table, int name, const ArrowExport& wanted, Arena& memory) {
  ExtraColumn column{zeroed(memory, wanted.length * width_of(Kind::text)),
                     zeroed(memory, (wanted.length + 63) / 64 * 8)};
  auto* const views = reinterpret_cast<TextView*>(column.views.get());
  auto* const words = reinterpret_cast<std::uint64_t*>(column.validity.get());
  for (const Extra& extra : table.extras_of(wanted.start, wanted.start + wanted.length)) {
    if (extra.name != name) continue;
    const std::int64_t row = extra.row - wanted.start;
    const std::string_view json = table.extra_json(extra);
    views[row] = extra.size <= TextView::inline_capacity
                     ? TextView::make_inline(json)
                     : TextView::make_place(json, extra.buffer, extra.offset);
    words[row / 64] |= std::uint64_t{1} << (row % 64);
  }
  return column;
}

Source source_of(const Table& table, int field, const ArrowExport& wanted, Arena& memory) {
  const Kind kind = table.schema().field(field).kind;
  const Column& column = table.column(field);
  const bool empty = column.values == nullptr;
  return {.table = table,
          .memory = memory,
          .values = empty ? nullptr : column.values + wanted.start * width_of(kind),
          .validity = column.nulls == 0 ? nullptr : column.validity,
          .first = wanted.start,
          .length = wanted.length,
          .kind = kind};
}

Source source_of(const Table& table, const ExtraColumn& column, const ArrowExport& wanted,
                 Arena& memory) {
  return {.table = table,
          .memory = memory,
          .values = column.views.get(),
          .validity = reinterpret_cast<const std::uint64_t*>(column.validity.get()),
          .first = 0,
          .length = wanted.length,
          .kind = Kind::text};
}

Buffers field_buffers(const Table& table, const ArrowColumn& column, const ArrowExport& wanted,
                      bool share, Arena& memory) {
  const Source source = source_of(table, column.column, wanted, memory);
  if (source.kind == Kind::timestamp && wanted.to_utc) return instants(source, wanted.to_utc);
  if (source.kind != Kind::text) return share ? shared_values(source) : copied_values(source);
  switch (column.text) {
    case TextForm::view: return share ? shared_views(source) : copied_views(source);
    case TextForm::small: return detail::offset_text<std::int32_t>(source);
    case TextForm::large: return detail::offset_text<std::int64_t>(source);
    case TextForm::category: break;
  }
  return category(source, categories_of(table, column.column, wanted.start, wanted.length));
}

Buffers extra_buffers(const Table& table, const ArrowColumn& column, const ArrowExport& wanted,
                      bool share, Arena& memory) {
  ExtraColumn extra = collect(table, column.column - table.schema().width(), wanted, memory);
  const Source source = source_of(table, extra, wanted, memory);
  if (column.text == TextForm::small) return detail::offset_text<std::int32_t>(source);
  if (column.text == TextForm::large) return detail::offset_text<std::int64_t>(source);
  if (!share) return copied_views(source);
  Buffers buffers = shared_views(source);
  buffers.blocks.push_back(std::move(extra.views));
  buffers.blocks.push_back(std::move(extra.validity));
  return buffers;
}

void fill_column(ArrowArray& out, const TablePtr& table, const ArrowColumn& column,
                 const ArrowExport& wanted, bool share, Arena& memory) {
  auto owner = std::make_unique<ArrayOwner>();
  const bool known = column.column < table->schema().width();
  owner->buffers = known ? field_buffers(*table, column, wanted, share, memory)
                         : extra_buffers(*table, column, wanted, share, memory);
  if (owner->buffers.in_table) owner->table = table;
  if (owner->buffers.dictionary) {
    auto values = std::make_unique<ArrayOwner>();
    values->buffers = std::move(*owner->buffers.dictionary);
    fill(owner->dictionary, std::move(values), owner->buffers.dictionary_length);
  }
  fill(out, std::move(owner), wanted.length);
}

}  // namespace

std::vector<ArrowColumn> arrow_columns(const Table& table, bool extra) {
  const int unknown = extra ? static_cast<int>(table.extra_names().size()) : 0;
  std::vector<ArrowColumn> columns;
  for (int i = 0; i < table.schema().width() + unknown; ++i) columns.push_back({.column = i});
  return columns;
}

void export_array(const TablePtr& table, const ArrowExport& wanted, ArrowArray& out) {
  const bool share = detail::worth_sharing(*table, wanted);
  // 16 bytes a cell: what a view or an offset with short text takes.
  Arena memory(wanted.length * static_cast<std::int64_t>(wanted.columns.size()) * 16);
  auto batch = std::make_unique<ArrayOwner>();
  batch->buffers.pointers.push_back(nullptr);  // no row of the batch itself is null
  batch->children.resize(wanted.columns.size());
  for (std::size_t i = 0; i < wanted.columns.size(); ++i) {
    fill_column(batch->children[i], table, wanted.columns[i], wanted, share, memory);
  }
  fill(out, std::move(batch), wanted.length);
}

}  // namespace tradingdata
