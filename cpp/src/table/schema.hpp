// The description of a record: an ordered list of named, typed fields.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

namespace tradingdata {

// The type of a field on the wire, which decides how it is stored, shown and exported.
enum class Kind : std::uint8_t { text, integer, number, timestamp, date };

constexpr std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::text: return "text";
    case Kind::integer: return "integer";
    case Kind::number: return "number";
    case Kind::timestamp: return "timestamp";
    case Kind::date: return "date";
  }
  return "unknown";
}

struct Field {
  std::string_view name;  // as on the wire
  Kind kind;
  std::string_view doc;
  bool personal = false;  // masked while it is decoded
};

struct Schema {
  std::string_view record;
  std::span<const Field> fields;

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

  // The position of a field that must exist: a wrong name does not compile.
  consteval int operator[](std::string_view name) const {
    const int found = find(name);
    if (found < 0) throw std::invalid_argument("the record has no such field");
    return found;
  }
};

}  // namespace tradingdata
