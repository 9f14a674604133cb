// The description of a record: an ordered list of named, typed fields.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tradingdata {

// The type of a field on the wire, which decides how it is stored, shown and exported.
enum class Kind : std::uint8_t { text, integer, number, timestamp, date };

// In the order of Kind.
inline constexpr std::string_view kind_names[] = {"text", "integer", "number", "timestamp", "date"};

constexpr std::string_view name_of(Kind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

// What else is known of a field.
struct Traits {
  bool personal = false;  // masked while it is decoded
  bool optional = false;  // a response may lack it without an issue
  bool local = false;     // set on this side: no response has it
};

struct Field {
  std::string_view name;  // as on the wire
  Kind kind;
  std::string_view doc;
  Traits traits = {};

  constexpr bool personal() const { return traits.personal; }
  constexpr bool optional() const { return traits.optional || traits.local; }
  constexpr bool local() const { return traits.local; }
};

// Before the name of a local field in what is written to be read back, where a field of this name
// may be an unknown one.
inline constexpr std::string_view local_prefix = "_tradingdata.";

class OwnedSchema;

struct Schema {
  std::string_view record = {};  // the name of a row's type
  std::span<const Field> fields = {};
  // The fields that identify a record among those of its day; a text field first.
  std::span<const int> identity = {};
  const OwnedSchema* owner = nullptr;  // of one that is made at run time

  constexpr int width() const { return static_cast<int>(fields.size()); }
  constexpr const Field& field(int position) const {
    return fields[static_cast<std::size_t>(position)];
  }

  // The field's position, or -1 where the record has no such field.
  constexpr int find(std::string_view name) const {
    for (int i = 0; i < width(); ++i) {
      if (fields[static_cast<std::size_t>(i)].name == name) return i;
    }
    return -1;
  }

  // How many of the fields are sent: local ones are the last.
  constexpr int sent() const {
    int count = width();
    while (count > 0 && field(count - 1).local()) --count;
    return count;
  }

  // The position of a field that is sent, or -1: a key of that name may be a local field's.
  constexpr int find_sent(std::string_view name) const {
    const int found = find(name);
    return found < sent() ? found : -1;
  }

  // The position of a field that must exist: a wrong name does not compile.
  consteval int operator[](std::string_view name) const {
    const int found = find(name);
    if (found < 0) throw std::invalid_argument("the record has no such field");
    return found;
  }
};

// A schema that is made at run time: of a calculation's result or a query. Each table of it shares
// its ownership, so it must be made by `std::make_shared`.
class OwnedSchema : public std::enable_shared_from_this<OwnedSchema> {
 public:
  struct Column {
    std::string name;
    Kind kind;
    std::string doc = {};
    Traits traits = {};
  };

  OwnedSchema(std::string record, std::vector<Column> columns)
      : record_(std::move(record)), columns_(std::move(columns)) {
    for (const Column& column : columns_) {
      fields_.push_back({column.name, column.kind, column.doc, column.traits});
    }
    schema_ = {.record = record_, .fields = fields_, .owner = this};
  }
  OwnedSchema(const OwnedSchema&) = delete;  // the schema refers to the other members
  OwnedSchema& operator=(const OwnedSchema&) = delete;
  ~OwnedSchema() = default;

  const Schema& schema() const { return schema_; }

 private:
  std::string record_;
  std::vector<Column> columns_;
  std::vector<Field> fields_;
  Schema schema_;
};

using SchemaPtr = std::shared_ptr<const Schema>;

// The schema and a share in what owns it; the service's records live as long as the process.
inline SchemaPtr shared(const Schema& schema) {
  if (schema.owner == nullptr) return {SchemaPtr(), &schema};
  return {schema.owner->shared_from_this(), &schema};
}

}  // namespace tradingdata
