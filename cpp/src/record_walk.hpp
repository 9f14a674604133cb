// The walk over an array of records: keys are predicted, values go straight into their columns.
#pragma once

#include <cstdint>
#include <string_view>

#include "cells.hpp"
#include "grammar.hpp"
#include "keys.hpp"

namespace tradingdata::detail {

// Which fields a record has had so far.
class SeenFields {
 public:
  void clear() { words_[0] = words_[1] = 0; }
  bool has(int field) const { return (words_[field / 64] >> (field % 64) & 1) != 0; }
  void add(int field) { words_[field / 64] |= std::uint64_t{1} << (field % 64); }
  int count() const { return std::popcount(words_[0]) + std::popcount(words_[1]); }

 private:
  std::uint64_t words_[2] = {};
};

class RecordWalk {
 public:
  // `where` is the array's JSON path: records stand at where[0], where[1], ...
  RecordWalk(Cursor& cursor, Table& table, const DecodeOptions& options, std::string_view where);

  // Reads the array at the cursor. An element that is no record is passed over and remembered.
  void read_array();

  // Where the first element stood that is no object, or nullptr.
  const char* odd_element() const { return odd_element_; }
  std::int64_t odd_row() const { return odd_row_; }

 private:
  void make_room(std::int64_t row);
  void read_record(std::int64_t row);
  void read_pair(std::int64_t row);
  KeyMeaning read_key();
  void read_extra(std::int32_t name, std::int64_t row);
  std::string path_of(std::int64_t row) const;

  Cursor& cursor_;
  Table& table_;
  Cells cells_;
  KeyOrder keys_;
  SeenFields seen_;
  std::string_view where_;
  const char* array_begin_ = nullptr;
  KeyMeaning meaning_;  // of the key that was read last
  std::vector<std::size_t> latest_extra_;  // by name: where its last value stands
  const char* odd_element_ = nullptr;
  std::int64_t odd_row_ = 0;
};

}  // namespace tradingdata::detail
