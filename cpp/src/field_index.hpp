// The fields of a record by name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tradingdata/schema.hpp"

namespace tradingdata::detail {

class FieldIndex {
 public:
  explicit FieldIndex(const Schema& schema);

  // The field's position, or -1.
  int find(std::string_view name) const {
    const int field = slots_[slot_of(name)];
    if (field < 0) return -1;
    const bool found = schema_->fields[static_cast<std::size_t>(field)].name == name;
    return found ? field : schema_->find(name);
  }

 private:
  static constexpr std::size_t slot_count = 1024;
  static std::size_t slot_of(std::string_view name);

  const Schema* schema_;
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
