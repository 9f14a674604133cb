// The fields of a record by name.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "table/schema.hpp"

namespace tradingdata::detail {

// A hash table in which each field has a slot of its own.
class FieldIndex {
 public:
  // Throws where the names cannot be separated: for the service's records, while this is compiled.
  explicit constexpr FieldIndex(const Schema& schema) : schema_(&schema) {
    constexpr int most_tries = 10'000;
    for (int tries = 0; !fill(); ++tries) {
      if (tries == most_tries) throw std::logic_error("no perfect hash of a record's names found");
      multiplier_ = multiplier_ * 6364136223846793005 | 1;
    }
  }

  // The field's position, or -1.
  int find(std::string_view name) const {
    const int field = slots_[slot_of(name)];
    if (field < 0) return -1;
    return schema_->field(field).name == name ? field : -1;
  }

 private:
  static constexpr std::size_t slot_count = 1024;

  // Gives each field its slot; false where two share one.
  constexpr bool fill() {
    slots_.fill(-1);
    for (int i = 0; i < schema_->width(); ++i) {
      std::int16_t& slot = slots_[slot_of(schema_->field(i).name)];
      if (slot >= 0) return false;
      slot = static_cast<std::int16_t>(i);
    }
    return true;
  }

  constexpr std::size_t slot_of(std::string_view name) const {
    std::uint64_t word = name.size();
    std::size_t i = 0;
    for (std::array<char, 8> part; i + part.size() <= name.size(); i += part.size()) {
      std::copy_n(name.data() + i, part.size(), part.begin());  // compiles to one load
      word = (word ^ std::bit_cast<std::uint64_t>(part)) * multiplier_;
    }
    std::uint64_t rest = 0;
    for (; i < name.size(); ++i) rest = rest << 8 | static_cast<unsigned char>(name[i]);
    return static_cast<std::size_t>((word ^ rest) * multiplier_ >> 54);
  }

  const Schema* schema_;
  std::uint64_t multiplier_ = 0x9E3779B97F4A7C15;
  std::array<std::int16_t, slot_count> slots_{};
};

// The index of one of the service's records; nullptr for any other.
const FieldIndex* field_index(const Schema& schema);

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

  // Calls `work` with each field, in order.
  template <typename Work>
  void visit(const Work& work) const {
    for (int word = 0; word < 2; ++word) {
      for (std::uint64_t left = words_[static_cast<std::size_t>(word)]; left != 0;
           left &= left - 1) {
        work(word * 64 + std::countr_zero(left));
      }
    }
  }

 private:
  static std::size_t word_of(int field) { return static_cast<std::size_t>(field) / 64; }
  static std::uint64_t bit_of(int field) { return std::uint64_t{1} << (field % 64); }

  std::array<std::uint64_t, 2> words_{};
};

}  // namespace tradingdata::detail
