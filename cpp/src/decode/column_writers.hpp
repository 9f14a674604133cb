// Writes values into columns: one fast function for each kind, for values in the documented form,
// and one slow path for all others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/number.hpp"
#include "base/simd.hpp"
#include "base/time.hpp"
#include "decode/issues.hpp"
#include "decode/json.hpp"
#include "decode/pan_mask.hpp"
#include "decode/text_values.hpp"
#include "table/table.hpp"

namespace tradingdata::detail {

class ColumnWriters {
 public:
  // `depth` values enclose a cell.
  ColumnWriters(const Document& body, TableBuilder& table, IssueLog& issues, PanMask& mask,
                int depth);

  // Must be called before the first cell, and when the columns or the body have moved.
  void bind();

  // Reads the value at `at` into a cell and returns the place after it. The value is validated even
  // if it is not stored.
  TRADINGDATA_INLINE const char* read(const char* at, int field, std::int64_t row) {
    Sink& sink = sinks_[static_cast<std::size_t>(field)];
    const char* end = nullptr;
    switch (sink.kind) {
      case Kind::text: end = read_text(at, sink, row); break;
      case Kind::integer: end = read_integer(at, sink, row); break;
      case Kind::number: end = read_number(at, sink, row); break;
      case Kind::timestamp: end = read_timestamp(at, sink, row); break;
      case Kind::date: end = read_date(at, sink, row); break;
    }
    return end != nullptr ? end : read_slowly(at, field, row);
  }

  const char* read_out_of_line(const char* at, int field, std::int64_t row);

  void missing(int field, std::int64_t row, const char* record_end);

  // Must be called after the last cell.
  void settle_offsets();

 private:
  // Where the values of a field go.
  struct Sink {
    std::byte* values;
    int field;
    Kind kind;
    bool masked;

    template <typename T>
    void store(std::int64_t row, const T& value) {
      reinterpret_cast<T*>(values)[row] = value;
    }
  };

  // These return the place after the value, or nullptr where it is not in the documented form.

  TRADINGDATA_INLINE const char* read_text(const char* at, Sink& sink, std::int64_t row) {
    if (*at != '"') [[unlikely]]
      return nullptr;
    if (sink.masked) [[unlikely]]
      return read_personal(at, sink, row);
    const char* const from = at + 1;
    const std::size_t length = plain_length(from);
    if (from[length] != '"') [[unlikely]]
      return read_long_text(at, sink, row);
    store_view(reinterpret_cast<TextView*>(sink.values) + row, from, length, from - begin_);
    return from + length + 1;
  }

  TRADINGDATA_INLINE static const char* read_integer(const char* at, Sink& sink, std::int64_t row) {
    const ShortNumber number = scan_short_number(at);
    if (number.end == nullptr) return read_long_integer(at, sink, row);
    if (number.decimals != 0) return nullptr;
    sink.store(row, static_cast<std::int64_t>(number.digits));
    return number.end;
  }

  TRADINGDATA_INLINE static const char* read_number(const char* at, Sink& sink, std::int64_t row) {
    const ShortNumber number = scan_short_number(at);
    if (number.end == nullptr) return read_long_number(at, sink, row);
    sink.store(row, value_of(number));
    return number.end;
  }

  TRADINGDATA_INLINE static const char* read_timestamp(const char* at, Sink& sink,
                                                       std::int64_t row) {
    std::int32_t days = 0;
    if (*at != '"' || at[1 + timestamp_length] != '"' || at[1 + date_length] != ' ' ||
        !read_day(at + 1, days) || days == zero_date) {
      return nullptr;
    }
    const std::int64_t seconds = clock_seconds(at + date_length + 2);
    if (seconds < 0) return nullptr;
    sink.store(row, days * micros_per_day + seconds * micros_per_second);
    return at + timestamp_length + 2;
  }

  TRADINGDATA_INLINE const char* read_date(const char* at, Sink& sink, std::int64_t row) {
    std::int32_t days = 0;
    if (*at != '"' || at[1 + date_length] != '"' || !read_day(at + 1, days)) return nullptr;
    if (days == zero_date) {
      table_.set_null(sink.field, row);
    } else {
      sink.store(row, days);
    }
    return at + date_length + 2;
  }

  const char* read_long_text(const char* at, Sink& sink, std::int64_t row);
  static const char* read_long_integer(const char* at, Sink& sink, std::int64_t row);
  static const char* read_long_number(const char* at, Sink& sink, std::int64_t row);
  // Masks the value in the body, of which the column is a view.
  const char* read_personal(const char* at, Sink& sink, std::int64_t row);
  const char* read_slowly(const char* at, int field, std::int64_t row);

  TextView view_of_body(const char* from, const char* to) const;

  const Document& body_;
  const char* begin_ = nullptr;  // of the body
  TableBuilder& table_;
  IssueLog& issues_;
  PanMask& mask_;
  int depth_;
  std::vector<Sink> sinks_;
  std::vector<OffsetTime> offset_times_;
  std::string scratch_;
};

}  // namespace tradingdata::detail
