// What another library passes over the Arrow C interface: owned, validated as far as the interface
// allows, and read value by value. A producer's structures are not trusted: counts, offsets and
// indexes are checked before they are used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/arrow_interface.hpp"
#include "decode/from_arrow.hpp"

namespace tradingdata::detail {

// The physical type of a column.
enum class Wire : std::uint8_t {
  null,
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  text,        // 32-bit offsets
  large_text,  // 64-bit offsets
  text_view,
  date32,
  date64,
  timestamp,
  decimal,
};

struct WireType {
  Wire wire{};
  std::int64_t per_second = 0;  // units of a timestamp
  std::string zone;             // of a timestamp
  int scale = 0;                // digits of a decimal behind the point
  int bytes = 0;                // of a decimal
  bool is_dictionary = false;   // codes of the type `index` into text of the type `wire`
  Wire index{};

  bool is_text() const {
    return wire == Wire::text || wire == Wire::large_text || wire == Wire::text_view;
  }
  bool is_integer() const { return Wire::int8 <= wire && wire <= Wire::uint64; }
  bool is_float() const { return wire == Wire::float32 || wire == Wire::float64; }
};

// The type of a column. Throws UnsupportedColumn, which names it.
WireType wire_type(const ArrowSchema& column);

// One array of a column, checked when it is made. Rows are counted from 0.
class ArrayReader {
 public:
  // `first` and `length`: the rows of the array to read, behind its own offset. Throws
  // std::invalid_argument, which names the column, where the array is malformed.
  static ArrayReader open(std::string_view column, const WireType& type, const ArrowArray& array,
                          std::int64_t first, std::int64_t length);

  std::int64_t length() const { return length_; }
  bool valid(std::int64_t row) const {
    if (validity_ == nullptr) return !all_null_;
    const std::int64_t bit = first_ + row;
    return (validity_[bit / 8] >> (bit % 8) & 1) != 0;
  }

  // Calls work(values) with a pointer to the first row's value, in the type of a number or time.
  template <typename Work>
  void with_values(const Work& work) const;

  // The digits of a decimal, without zeros at the end of a fraction.
  std::string decimal(std::int64_t row, const WireType& type) const;
  bool boolean(std::int64_t row) const {
    const std::int64_t bit = first_ + row;
    return (static_cast<const std::uint8_t*>(values_)[bit / 8] >> (bit % 8) & 1) != 0;
  }
  // Whether all of the text is known to be ASCII.
  bool is_ascii() const { return ascii_; }
  // Memory may be read from any short text on up to here.
  const char* text_end() const { return text_end_; }
  // Calls put(row, text) for each row that has a text, which lies in memory of the producer and may
  // not be UTF-8.
  template <typename Put>
  void each_text(const Put& put) const;

 private:
  ArrayReader(std::string_view column, Wire wire, const ArrowArray& array, std::int64_t first,
              std::int64_t length);

  [[noreturn]] void fail(const char* what) const;
  template <typename Offset>
  void check_offsets(const ArrowArray& array);
  void check_views(const ArrowArray& array);
  std::int64_t code(std::int64_t row) const;
  std::string_view text(std::int64_t row) const;
  template <typename T>
  const T* values() const {
    return static_cast<const T*>(values_) + first_;
  }

  std::string_view column_;
  Wire wire_;
  std::int64_t first_;
  std::int64_t length_;
  bool all_null_ = false;
  bool ascii_ = false;
  const std::uint8_t* validity_ = nullptr;
  const void* values_ = nullptr;  // or offsets, views, codes
  const char* data_ = nullptr;    // of text behind offsets
  const char* text_end_ = nullptr;
  const void* const* blocks_ = nullptr;  // of text behind views
  std::vector<ArrayReader> dictionary_;  // none or one: the texts of the codes
};

template <typename Work>
void ArrayReader::with_values(const Work& work) const {
  switch (wire_) {
    case Wire::int8: return work(values<std::int8_t>());
    case Wire::uint8: return work(values<std::uint8_t>());
    case Wire::int16: return work(values<std::int16_t>());
    case Wire::uint16: return work(values<std::uint16_t>());
    case Wire::date32:
    case Wire::int32: return work(values<std::int32_t>());
    case Wire::uint32: return work(values<std::uint32_t>());
    case Wire::uint64: return work(values<std::uint64_t>());
    case Wire::float32: return work(values<float>());
    case Wire::float64: return work(values<double>());
    default: return work(values<std::int64_t>());
  }
}

template <typename Put>
void ArrayReader::each_text(const Put& put) const {
  for (std::int64_t row = 0; row < length_; ++row) {
    if (!valid(row)) continue;
    if (dictionary_.empty()) {
      put(row, text(row));
    } else if (const std::int64_t at = code(row); dictionary_.front().valid(at)) {
      put(row, dictionary_.front().text(at));
    }
  }
}

inline std::string_view ArrayReader::text(std::int64_t row) const {
  const auto between = [this](auto from, auto to) {
    return std::string_view(data_ + from, static_cast<std::size_t>(to - from));
  };
  if (wire_ == Wire::text) {
    const auto* const ends = values<std::int32_t>() + row;
    return between(ends[0], ends[1]);
  }
  if (wire_ == Wire::large_text) {
    const auto* const ends = values<std::int64_t>() + row;
    return between(ends[0], ends[1]);
  }
  const TextView& view = values<TextView>()[row];
  const auto size = static_cast<std::size_t>(view.size);
  if (view.is_inline()) return {view.inlined, size};
  return {static_cast<const char*>(blocks_[view.place.buffer]) + view.place.offset, size};
}

}  // namespace tradingdata::detail
