// Fills the columns of a table from arrays of another library and from JSON values. What lies in
// memory as a column has it is copied; every other value is taken as the JSON that it would be, by
// the decoder's rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/simd.hpp"
#include "base/time.hpp"
#include "decode/arrow_arrays.hpp"
#include "decode/issues.hpp"
#include "decode/json.hpp"
#include "decode/text_values.hpp"
#include "table/table.hpp"

namespace tradingdata::detail {

// The clock of a table's times. A time is on it when it is written, and is never moved.
class TableClock {
 public:
  TableClock() = default;  // of times without a zone
  // Of a zone: times are written as its clock shows them.
  static TableClock of_zone(const ZoneOffset& of_instants) { return {&of_instants, nullptr}; }
  // Of UTC, for a zone whose clock shows some of the times twice; it reads times without an offset.
  static TableClock utc(const ZoneOffset& of_clock) { return {nullptr, &of_clock}; }

  bool zoned() const { return of_instants_ != nullptr || of_clock_ != nullptr; }
  // Whether an instant is in the calendar of every zone.
  TRADINGDATA_INLINE static bool has(std::int64_t instant) {
    return instant >= (zero_date + 2) * micros_per_day && instant < last_date * micros_per_day;
  }
  // What the clock shows at an instant.
  std::int64_t at(std::int64_t instant) const {
    return of_instants_ != nullptr ? instant + (*of_instants_)(instant) : instant;
  }
  // The same of a time as text has it: on the zone's clock, or with an offset from UTC in minutes.
  // None: it is at an end of the calendar.
  std::optional<std::int64_t> at(std::int64_t micros, const std::optional<int>& offset) const;

 private:
  TableClock(const ZoneOffset* of_instants, const ZoneOffset* of_clock)
      : of_instants_(of_instants), of_clock_(of_clock) {}

  const ZoneOffset* of_instants_ = nullptr;
  const ZoneOffset* of_clock_ = nullptr;
};

class ColumnFiller {
 public:
  // `mask`: personal text is masked.
  ColumnFiller(TableBuilder& table, const TableClock& clock, bool mask)
      : table_(table), clock_(clock), mask_(mask), issues_(table, nullptr) {}

  // Throws UnsupportedColumn for a column of a type that its field cannot take.
  static void check_takes(const Field& field, const WireType& type);

  // Fills the rows of a field from `first` on, which must be reserved.
  void fill(int field, const ArrayReader& values, std::int64_t first);
  // Fills a cell with the meaning of a JSON value.
  void fill_cell(int field, std::int64_t row, const Literal& value);

  // Must be called once the table has all of its rows.
  void settle_offsets();

 private:
  template <typename Raw>
  void fill_cell(int field, std::int64_t row, const Literal& value, const Raw& raw);
  template <typename Raw>
  void put_on_clock(int field, std::int64_t row, const std::optional<int>& offset, const Raw& raw);
  template <typename Cell, typename Copy>
  void fill_cells(int field, const ArrayReader& values, std::int64_t first, const Copy& copy);
  void fill_texts(int field, const ArrayReader& values, std::int64_t first);

  TableBuilder& table_;
  const TableClock& clock_;
  bool mask_;
  IssueCounts issues_;
  std::vector<OffsetTime> offset_times_;  // of a table without a zone
};

}  // namespace tradingdata::detail
