// What another library passes over the Arrow C interface, read value by value. Its structures are
// trusted, since they have pointers to its code; what they may hold of a damaged file is not: the
// offsets, places and codes of texts are checked before they are used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/arrow_interface.hpp"
#include "base/text.hpp"
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
  std::int64_t per_second = 0;  // units of a timestamp or date64
  std::string zone;             // of a timestamp
  int scale = 0;                // digits of a decimal behind the point
  int bytes = 0;                // of a decimal
  bool is_dictionary = false;   // codes of the type `index` of values of the type `wire`
  Wire index{};

  bool is_text() const {
    return wire == Wire::text || wire == Wire::large_text || wire == Wire::text_view;
  }
  bool is_integer() const { return Wire::int8 <= wire && wire <= Wire::uint64; }
  bool is_float() const { return wire == Wire::float32 || wire == Wire::float64; }
};

// The type of a column. Throws UnsupportedColumn, which names it.
WireType wire_type(const ArrowSchema& column);

// The bits of a bitmap: one, and whether each of `count` from `first` on is set.
inline bool is_set(const void* bits, std::int64_t at) {
  return (static_cast<const std::uint8_t*>(bits)[at / 8] >> (at % 8) & 1) != 0;
}
bool all_set(const void* bits, std::int64_t first, std::int64_t count);

// The digits of a decimal, without zeros at the end of a fraction.
struct Decimal {
  std::string digits;
};

// Throws std::invalid_argument, which names the column, where a text is not UTF-8.
void check_utf8(std::string_view column, std::string_view text);

// One array of a column, checked when it is made. Rows are counted from 0.
class ArrayReader {
 public:
  // `first` and `length`: the rows of the array to read, behind its own offset. Throws
  // std::invalid_argument, which names the column, where its texts are malformed. The three
  // references must outlive the reader.
  static ArrayReader open(std::string_view column, const WireType& type, const ArrowArray& array,
                          std::int64_t first, std::int64_t length);

  const WireType& type() const { return type_; }
  std::int64_t length() const { return length_; }
  bool may_have_nulls() const { return all_null_ || validity_ != nullptr || !codes_.empty(); }
  bool valid(std::int64_t row) const {
    if (!codes_.empty()) return code(row) >= 0;
    return validity_ == nullptr ? !all_null_ : is_set(validity_, first_ + row);
  }

  // Calls put(row, value) for each row that has a value: a number, or the units of a time or date,
  // in its type; a bool; a Decimal; or a text, as `each_text` has it.
  template <typename Put>
  void each(const Put& put) const;
  // The same for texts, which lie in memory of the producer and may not be UTF-8.
  template <typename Put>
  void each_text(const Put& put) const;

  // Whether all of the text is known to be ASCII.
  bool is_ascii() const { return ascii_; }
  // Memory may be read from any short text on up to here.
  const char* text_end() const { return text_end_; }
  // The values that the rows have codes of; null where each row has its own.
  const ArrayReader* dictionary() const { return coded_.empty() ? nullptr : &coded_.front(); }
  // The place of a row's value there; -1: the row has none.
  std::int64_t code(std::int64_t row) const { return codes_[static_cast<std::size_t>(row)]; }

 private:
  ArrayReader(std::string_view column, const WireType& type, Wire wire, const ArrowArray& array,
              std::int64_t first, std::int64_t length);

  [[noreturn]] void fail(const char* what) const;
  template <typename Offset>
  void check_offsets(const ArrowArray& array);
  void check_views(const ArrowArray& array);
  void read_codes();
  Decimal decimal(std::int64_t row) const;
  template <typename T>
  const T* values() const {
    return static_cast<const T*>(values_) + first_;
  }
  // Calls work(values) with a pointer to the first row's value, in the type of a number or time.
  template <typename Work>
  void with_values(const Work& work) const;
  // Calls work(read), where read(row) gives a row's text.
  template <typename Work>
  void with_texts(const Work& work) const;
  // The same for a value of any type but null.
  template <typename Work>
  void with_any(const Work& work) const;
  template <typename Read, typename Put>
  void each_valid(const Read& read, const Put& put) const;

  std::string_view column_;
  const WireType& type_;
  Wire wire_;  // of the values, which may be codes
  std::int64_t first_;
  std::int64_t length_;
  bool all_null_ = false;
  bool ascii_ = false;
  const void* validity_ = nullptr;  // where a row is null
  const void* values_ = nullptr;    // or offsets, views, codes
  const char* data_ = nullptr;      // of text behind offsets
  const char* text_end_ = nullptr;
  const void* const* blocks_ = nullptr;  // of text behind views
  std::vector<ArrayReader> coded_;       // none or one: the dictionary
  std::vector<std::int64_t> codes_;      // by row
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

// What `read` needs is in copies, since the loop may write anywhere.
template <typename Work>
void ArrayReader::with_texts(const Work& work) const {
  const auto behind = [&](const auto* ends) {
    work([ends, data = data_](std::int64_t row) {
      return std::string_view(data + ends[row],
                              static_cast<std::size_t>(ends[row + 1] - ends[row]));
    });
  };
  if (wire_ == Wire::text) return behind(values<std::int32_t>());
  if (wire_ == Wire::large_text) return behind(values<std::int64_t>());
  work([views = values<TextView>(), blocks = blocks_](std::int64_t row) -> std::string_view {
    const TextView& view = views[row];
    const auto size = static_cast<std::size_t>(view.size);
    if (view.is_inline()) return {view.inlined, size};
    return {static_cast<const char*>(blocks[view.place.buffer]) + view.place.offset, size};
  });
}

template <typename Read, typename Put>
void ArrayReader::each_valid(const Read& read, const Put& put) const {
  const std::int64_t length = length_;
  if (!may_have_nulls()) {
    for (std::int64_t row = 0; row < length; ++row) put(row, read(row));
    return;
  }
  for (std::int64_t row = 0; row < length; ++row) {
    if (valid(row)) put(row, read(row));
  }
}

template <typename Work>
void ArrayReader::with_any(const Work& work) const {
  if (type_.is_text()) return with_texts(work);
  if (type_.wire == Wire::boolean) {
    return work([this](std::int64_t row) { return is_set(values_, first_ + row); });
  }
  if (type_.wire == Wire::decimal) {
    return work([this](std::int64_t row) { return decimal(row); });
  }
  with_values(
      [&](const auto* of_rows) { work([of_rows](std::int64_t row) { return of_rows[row]; }); });
}

template <typename Put>
void ArrayReader::each_text(const Put& put) const {
  if (const ArrayReader* const texts = dictionary()) {
    return texts->with_texts([&](const auto& read) {
      each_valid([&](std::int64_t row) { return read(code(row)); }, put);
    });
  }
  with_texts([&](const auto& read) { each_valid(read, put); });
}

template <typename Put>
void ArrayReader::each(const Put& put) const {
  if (type_.wire == Wire::null) return;
  if (const ArrayReader* const values = dictionary()) {
    return values->with_any([&](const auto& read) {
      each_valid([&](std::int64_t row) { return read(code(row)); }, put);
    });
  }
  with_any([&](const auto& read) { each_valid(read, put); });
}

}  // namespace tradingdata::detail
