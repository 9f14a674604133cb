// Values into columns: one function a kind, fast where the value is as documented, and a slow road
// for all that is not.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "clock_text.hpp"
#include "grammar.hpp"
#include "simd.hpp"
#include "tradingdata/decode.hpp"
#include "tradingdata/number.hpp"
#include "tradingdata/table.hpp"

namespace tradingdata::detail {

class Cells {
 public:
  Cells(Cursor& cursor, Table& table, const DecodeOptions& options);

  // Reads the value at the cursor into a cell; the value is validated whatever becomes of it.
  void read(int field, std::int64_t row) {
    switch (kinds_[static_cast<std::size_t>(field)]) {
      case Kind::text: return read_text(field, row);
      case Kind::integer: return read_integer(field, row);
      case Kind::number: return read_number(field, row);
      case Kind::timestamp: return read_timestamp(field, row);
      case Kind::date: return read_date(field, row);
    }
  }

  void missing(int field, std::int64_t row);
  void note(std::string_view name, Problem problem, std::int64_t row, std::string_view raw);

 private:
  struct Literal;  // a value of any type, as the slow road reads it

  const Field& field_of(int field) const {
    return table_.schema().fields[static_cast<std::size_t>(field)];
  }
  template <typename T>
  void store(int field, std::int64_t row, const T& value) {
    table_.column(field).as<T>()[row] = value;
  }

  void read_text(int field, std::int64_t row) {
    const char* const from = cursor_.at + 1;
    if (*cursor_.at == '"' && !personal_[static_cast<std::size_t>(field)]) [[likely]] {
      const std::uint32_t special = special_bytes(from);
      const int length = std::countr_zero(special);  // 32 where there is none
      if (length <= TextView::inline_capacity && from[length] == '"') [[likely]] {
        store_inline(table_.column(field).as<TextView>() + row, from, length);
        cursor_.at = from + length + 1;
        return;
      }
      const StringScan scan = scan_string(from);
      if (scan.end != nullptr && !scan.escaped) [[likely]] {
        store(field, row, view_of_body(from, scan.end));
        cursor_.at = scan.end + 1;
        return;
      }
    }
    slow_text(field, row);
  }

  void read_integer(int field, std::int64_t row) {
    const NumberScan scan = scan_number(cursor_.at);
    if (scan.end != nullptr && scan.integral && scan.digits <= surely_integer &&
        scan.end - cursor_.at < 19) [[likely]] {
      const auto digits = static_cast<std::int64_t>(scan.digits);
      store(field, row, scan.negative ? -digits : digits);
      cursor_.at = scan.end;
      return;
    }
    slow_integer(field, row);
  }

  void read_number(int field, std::int64_t row) {
    const NumberScan scan = scan_number(cursor_.at);
    if (scan.end != nullptr) [[likely]] {
      double value = 0;
      const std::string_view literal(cursor_.at, static_cast<std::size_t>(scan.end - cursor_.at));
      if (double_of(scan, literal, value) == NumberFit::exact) [[likely]] {
        store(field, row, value);
        cursor_.at = scan.end;
        return;
      }
    }
    slow_number(field, row);
  }

  void read_timestamp(int field, std::int64_t row) {
    std::int64_t micros = 0;
    if (memo_of(field).read_timestamp(cursor_.at, micros)) [[likely]] {
      store(field, row, micros);
      cursor_.at += ClockText::timestamp_length + 2;
      return;
    }
    slow_timestamp(field, row);
  }

  void read_date(int field, std::int64_t row) {
    const DateMemo& memo = memo_of(field);
    if (memo.is_repeated(cursor_.at)) [[likely]] {
      cursor_.at += ClockText::date_length + 2;
      if (memo.is_zero()) {
        table_.set_null(field, row);
      } else {
        store(field, row, memo.days());
      }
      return;
    }
    slow_date(field, row);
  }

  DateMemo& memo_of(int field) { return memos_[static_cast<std::size_t>(field)]; }
  TextView view_of_body(const char* from, const char* to) const {
    const std::string_view text(from, static_cast<std::size_t>(to - from));
    if (text.size() <= TextView::inline_capacity) return TextView::make_inline(text);
    return TextView::make_place(text, 0, cursor_.offset_of(from));
  }

  void slow_text(int field, std::int64_t row);
  void slow_integer(int field, std::int64_t row);
  void slow_number(int field, std::int64_t row);
  void slow_timestamp(int field, std::int64_t row);
  void slow_date(int field, std::int64_t row);
  void personal_text(int field, std::int64_t row);

  // Passes a value of any type and keeps what the slow roads ask of it.
  Literal read_literal();
  std::string_view unescaped(const char* from, const char* to, bool& damaged);
  NumberScan scan_inside_text(std::string_view text);
  // The value is none: `null` says so itself, "" may, anything else is noted as lost.
  void no_value(int field, std::int64_t row, const Literal& literal, Problem problem);
  void note(int field, Problem problem, std::int64_t row, const Literal& literal);
  void overwrite(const Literal& literal, std::string_view with);

  static constexpr std::uint64_t surely_integer = 1ULL << 62;

  Cursor& cursor_;
  Table& table_;
  const DecodeOptions& options_;
  std::vector<Kind> kinds_;
  std::vector<char> personal_;  // 1: to be masked
  std::vector<DateMemo> memos_;
  std::string scratch_;
};

}  // namespace tradingdata::detail
