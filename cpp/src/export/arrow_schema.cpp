// The schema half of the Arrow interface: what the columns are.
#include <cstring>
#include <memory>

#include "export/arrow_layout.hpp"

namespace tradingdata {

namespace detail {

namespace {

// What an ArrowSchema points into. A consumer may have moved children out, and then owns them.
struct SchemaOwner {
  std::string format;
  std::string name;
  std::string metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> child_pointers;
  ArrowSchema dictionary{};

  SchemaOwner() = default;
  SchemaOwner(const SchemaOwner&) = delete;
  SchemaOwner& operator=(const SchemaOwner&) = delete;
  ~SchemaOwner() {
    for (ArrowSchema& child : children) {
      if (child.release != nullptr) child.release(&child);
    }
    if (dictionary.release != nullptr) dictionary.release(&dictionary);
  }
};

void release_schema(ArrowSchema* schema) {
  const std::unique_ptr<SchemaOwner> owner(static_cast<SchemaOwner*>(schema->private_data));
  schema->release = nullptr;
}

void fill(ArrowSchema& out, std::unique_ptr<SchemaOwner> owner, std::int64_t flags) {
  for (ArrowSchema& child : owner->children) owner->child_pointers.push_back(&child);
  const bool has_dictionary = owner->dictionary.release != nullptr;
  out = ArrowSchema{
      .format = owner->format.c_str(),
      .name = owner->name.c_str(),
      .metadata = owner->metadata.empty() ? nullptr : owner->metadata.data(),
      .flags = flags,
      .n_children = static_cast<std::int64_t>(owner->children.size()),
      .children = owner->child_pointers.empty() ? nullptr : owner->child_pointers.data(),
      .dictionary = has_dictionary ? &owner->dictionary : nullptr,
      .release = release_schema,
      .private_data = nullptr,
  };
  out.private_data = owner.release();
}

// Names are C strings in this interface, and an unknown field's may hold anything.
std::string without_nul(std::string name) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  for (std::size_t at = name.find('\0'); at != std::string::npos; at = name.find('\0', at)) {
    name.replace(at, 1, replacement);
  }
  return name;
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

}  // namespace

Shape shape_of(const Table& table, const ArrowExport& wanted) {
  const Schema& schema = table.schema();
  Shape shape{.record = std::string(schema.record), .columns = {}};
  for (const ArrowColumn& column : wanted.columns) {
    const bool known = column.column < schema.width();
    const Kind kind = known ? schema.field(column.column).kind : Kind::text;
    const bool is_category = kind == Kind::text && column.text == TextForm::category && known;
    shape.columns.push_back({
        .name = without_nul(std::string(table.column_name(column.column))),
        .format = is_category ? "i" : format_of(kind, column.text, wanted.time_zone),
        .is_category = is_category,
    });
  }
  return shape;
}

void write_schema(const Shape& shape, ArrowSchema& out) {
  auto batch = std::make_unique<SchemaOwner>();
  batch->format = "+s";
  batch->metadata = record_metadata(shape.record);
  batch->children.resize(shape.columns.size());
  for (std::size_t i = 0; i < shape.columns.size(); ++i) {
    const ShapeColumn& column = shape.columns[i];
    auto child = std::make_unique<SchemaOwner>();
    child->format = column.format;
    child->name = column.name;
    if (column.is_category) {
      auto values = std::make_unique<SchemaOwner>();
      values->format = "u";
      fill(child->dictionary, std::move(values), ARROW_FLAG_NULLABLE);
    }
    fill(batch->children[i], std::move(child), ARROW_FLAG_NULLABLE);
  }
  fill(out, std::move(batch), 0);
}

}  // namespace detail

void export_schema(const Table& table, const ArrowExport& wanted, ArrowSchema& out) {
  detail::write_schema(detail::shape_of(table, wanted), out);
}

}  // namespace tradingdata
