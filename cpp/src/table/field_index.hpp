// The fields of a record by name.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "table/schema.hpp"

namespace tradingdata::detail {

// A hash table in which each field has a slot of its own.
class FieldIndex {
 public:
  explicit FieldIndex(const Schema& schema);

  // The field's position, or -1.
  int find(std::string_view name) const {
    const int field = slots_[slot_of(name)];
    if (field < 0) return -1;
    return schema_->fields[static_cast<std::size_t>(field)].name == name ? field : -1;
  }

 private:
  static constexpr std::size_t slot_count = 1024;

  bool fill();
  std::size_t slot_of(std::string_view name) const {
    std::uint64_t word = name.size();
    std::size_t i = 0;
    for (std::uint64_t part; i + sizeof part <= name.size(); i += sizeof part) {
      std::memcpy(&part, name.data() + i, sizeof part);
      word = (word ^ part) * multiplier_;
    }
    std::uint64_t rest = 0;
    for (; i < name.size(); ++i) rest = rest << 8 | static_cast<unsigned char>(name[i]);
    return static_cast<std::size_t>((word ^ rest) * multiplier_ >> 54);
  }

  const Schema* schema_;
  std::uint64_t multiplier_ = 0x9E3779B97F4A7C15;
  std::array<std::int16_t, slot_count> slots_;
};

const FieldIndex& field_index(const Schema& schema);

// Some of the fields of a record.
class FieldSet {
 public:
  static constexpr int capacity = 128;

  static FieldSet all(const Schema& schema);

  bool has(int field) const { return (words_[word_of(field)] & bit_of(field)) != 0; }
  void add(int field) { words_[word_of(field)] |= bit_of(field); }

  void add(const FieldSet& other) {
    words_[0] |= other.words_[0];
    words_[1] |= other.words_[1];
  }
  FieldSet without(const FieldSet& other) const {
    FieldSet rest;
    rest.words_ = {words_[0] & ~other.words_[0], words_[1] & ~other.words_[1]};
    return rest;
  }
  bool meets(const FieldSet& other) const {
    return ((words_[0] & other.words_[0]) | (words_[1] & other.words_[1])) != 0;
  }
  bool operator==(const FieldSet&) const = default;

 private:
  static std::size_t word_of(int field) { return static_cast<std::size_t>(field) / 64; }
  static std::uint64_t bit_of(int field) { return std::uint64_t{1} << (field % 64); }

  std::array<std::uint64_t, 2> words_{};
};

}  // namespace tradingdata::detail
