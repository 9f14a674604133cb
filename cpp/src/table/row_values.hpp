// Single values of rows, compared and hashed by what they hold, whichever table they lie in.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "table/table.hpp"

namespace tradingdata::detail {

inline bool same_value(const Table& a, std::int64_t row_a, const Table& b, std::int64_t row_b,
                       int field) {
  const bool valid = a.valid(field, row_a);
  if (valid != b.valid(field, row_b)) return false;
  if (!valid) return true;
  const Kind kind = a.schema().fields[static_cast<std::size_t>(field)].kind;
  switch (kind) {
    case Kind::text: return a.text(field, row_a) == b.text(field, row_b);
    case Kind::number:
      return a.column(field).as<double>()[row_a] == b.column(field).as<double>()[row_b];
    default: {
      const std::int64_t width = width_of(kind);
      return std::memcmp(a.column(field).values + row_a * width,
                         b.column(field).values + row_b * width,
                         static_cast<std::size_t>(width)) == 0;
    }
  }
}

inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 32;
}

inline std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = text.size();
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t count = text.copy(reinterpret_cast<char*>(&word), sizeof word);
    hash = mixed(hash, word);
    text.remove_prefix(count);
  }
  return hash;
}

// Equal values have equal hashes; that of no value is the same in every field.
inline std::uint64_t hash_value(const Table& table, int field, std::int64_t row) {
  if (!table.valid(field, row)) return 0x5851F42D;
  const Column& column = table.column(field);
  switch (table.schema().fields[static_cast<std::size_t>(field)].kind) {
    case Kind::text: return hash_text(table.text(field, row));
    case Kind::number: {
      const double value = column.as<double>()[row];
      return std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);  // -0 equals 0
    }
    case Kind::date: return static_cast<std::uint64_t>(column.as<std::int32_t>()[row]);
    default: return static_cast<std::uint64_t>(column.as<std::int64_t>()[row]);
  }
}

}  // namespace tradingdata::detail
