// One loop for each kind of field, which copies; and one function for all that is not copied.
#include "decode/column_filler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/text.hpp"
#include "decode/arrow_json.hpp"
#include "privacy/personal.hpp"

namespace tradingdata::detail {

namespace {

bool takes(Kind kind, const WireType& type) {
  if (type.wire == Wire::null || type.is_text()) return true;
  const bool numeric = type.is_integer() || type.is_float() || type.wire == Wire::decimal;
  switch (kind) {
    case Kind::text: return numeric || type.wire == Wire::boolean;
    case Kind::integer:
    case Kind::number: return numeric;
    case Kind::timestamp: return type.wire == Wire::timestamp || type.is_float();
    case Kind::date:
      return type.is_float() || type.wire == Wire::date32 || type.wire == Wire::date64 ||
             (type.wire == Wire::timestamp && type.zone.empty());
  }
  return false;
}

UnsupportedColumn unsupported(const Field& field) {
  return UnsupportedColumn("column " + std::string(field.name) + " takes " +
                           std::string(name_of(field.kind)) +
                           ", and the Arrow data has another type: cast it before it is passed");
}

// Times of a unit in microseconds; the values that are no whole ones, or beyond the calendar, are
// not converted.
class TimeUnit {
 public:
  TimeUnit(const WireType& type)
      : finer_(std::max<std::int64_t>(type.per_second / micros_per_second, 1)),
        coarser_(type.per_second > 0
                     ? std::max<std::int64_t>(micros_per_second / type.per_second, 1)
                     : 1),
        most_(std::numeric_limits<std::int64_t>::max() / coarser_) {}

  TRADINGDATA_INLINE bool convert(std::int64_t value, std::int64_t& micros) const {
    if (value > most_ || value < -most_) return false;
    if (finer_ == 1) {
      micros = value * coarser_;
    } else {
      micros = value / finer_;
      if (micros * finer_ != value) return false;
    }
    return micros >= (zero_date + 1) * micros_per_day && micros < (last_date + 1) * micros_per_day;
  }

 private:
  std::int64_t finer_;
  std::int64_t coarser_;
  std::int64_t most_;
};

// What is known of texts, kept in registers while cells are written.
struct TextSource {
  bool is_ascii;
  const char* end;
};

TRADINGDATA_NOINLINE void put_slowly(TableBuilder& table, const Field& field, TextView* cell,
                                     std::string_view text, bool is_ascii) {
  if (!is_ascii) check_utf8(field.name, text);
  *cell = table.keep_text(text);
}

TRADINGDATA_INLINE void put_text(TableBuilder& table, const Field& field, TextView* cell,
                                 std::string_view text, const TextSource& from) {
  const bool may_load = from.end - text.data() >= static_cast<std::ptrdiff_t>(sizeof *cell);
  if (!from.is_ascii || !may_load || text.size() > TextView::inline_capacity) [[unlikely]] {
    return put_slowly(table, field, cell, text, from.is_ascii);
  }
  store_view(cell, text.data(), text.size(), 0);
}

}  // namespace

std::optional<std::int64_t> TableClock::at(std::int64_t micros,
                                           const std::optional<int>& offset) const {
  constexpr std::int64_t micros_per_minute = 60 * micros_per_second;
  if (!offset && of_clock_ == nullptr) return micros;
  if (!has(micros)) return std::nullopt;
  const std::int64_t instant =
      micros - (offset ? *offset * micros_per_minute : (*of_clock_)(micros));
  if (!has(instant)) return std::nullopt;
  return at(instant);
}

void ColumnFiller::check_takes(const Field& field, const WireType& type) {
  if (!takes(field.kind, type)) throw unsupported(field);
}

void ColumnFiller::fill(int field, const ArrayReader& values, std::int64_t first) {
  const WireType& type = values.type();
  for (std::int64_t row = 0; row < values.length() && values.may_have_nulls(); ++row) {
    if (!values.valid(row)) table_.set_null(field, first + row);
  }
  switch (table_.table().schema().field(field).kind) {
    case Kind::text:
      if (type.is_text()) return fill_texts(field, values, first);
      return fill_cells<TextView>(field, values, first, [](const auto&, auto&) { return false; });
    case Kind::integer:
      return fill_cells<std::int64_t>(field, values, first, [](const auto& value, auto& cell) {
        if constexpr (std::is_same_v<decltype(value), const std::int64_t&>) {
          cell = value;
          return true;
        }
        return false;
      });
    case Kind::number:
      return fill_cells<double>(field, values, first, [](const auto& value, auto& cell) {
        if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(value)>>) {
          cell = value;
          return std::isfinite(value);
        }
        return false;
      });
    case Kind::timestamp:
      return fill_cells<std::int64_t>(
          field, values, first,
          [unit = TimeUnit(type), clock = type.zone.empty() ? nullptr : &clock_](const auto& value,
                                                                                 auto& cell) {
            if constexpr (std::is_same_v<decltype(value), const std::int64_t&>) {
              if (!unit.convert(value, cell)) return false;
              if (clock == nullptr) return true;
              if (!TableClock::has(cell)) return false;
              cell = clock->at(cell);
              return true;
            }
            return false;
          });
    case Kind::date:
      return fill_cells<std::int32_t>(
          field, values, first, [unit = TimeUnit(type)](const auto& value, auto& cell) {
            if constexpr (std::is_same_v<decltype(value), const std::int32_t&>) {
              cell = value;
              return value > zero_date && value <= last_date;
            } else if constexpr (std::is_same_v<decltype(value), const std::int64_t&>) {
              std::int64_t micros = 0;
              if (!unit.convert(value, micros)) return false;
              cell = day_of(micros);
              return micros == cell * micros_per_day;
            }
            return false;
          });
  }
}

// `copy(value, cell)`: whether the value lies in memory as a cell, which it then fills.
template <typename Cell, typename Copy>
void ColumnFiller::fill_cells(int field, const ArrayReader& values, std::int64_t first,
                              const Copy& copy) {
  const Field& declared = table_.table().schema().field(field);
  const bool is_time = declared.kind == Kind::timestamp || declared.kind == Kind::date;
  Cell* const cells = table_.cells<Cell>(field) + first;
  ArrowLiterals literals(values.type(), declared.kind == Kind::date);
  values.each([&]<typename Value>(std::int64_t row, const Value& value) {
    if (copy(value, cells[row])) [[likely]]
      return;
    if constexpr (std::is_same_v<Value, std::string_view>) check_utf8(declared.name, value);
    const Literal literal = literals.of(value);
    const auto raw = [&] { return json_of(literal); };
    if constexpr (std::is_floating_point_v<Value>) {
      constexpr double exact = 9007199254740992.0;  // larger ones may have been rounded
      // pandas reads a column of a CSV that has no values as floats, all of them NaN.
      if (is_time && !std::isnan(value)) throw unsupported(declared);
      if (declared.kind == Kind::text && std::abs(value) > exact) {
        table_.set_null(field, first + row);
        return issues_.add(field, Problem::would_round, first + row, raw);
      }
    }
    fill_cell(field, first + row, literal, raw);
  });
}

void ColumnFiller::fill_texts(int field, const ArrayReader& values, std::int64_t first) {
  const Field& declared = table_.table().schema().field(field);
  auto* const cells = table_.cells<TextView>(field) + first;
  if (mask_ && declared.personal()) {
    return values.each_text([&](std::int64_t row, std::string_view text) {
      check_utf8(declared.name, text);
      cells[row] = table_.keep_text(masked(text));
    });
  }
  const ArrayReader& texts = values.dictionary() ? *values.dictionary() : values;
  const TextSource source{texts.is_ascii(), texts.text_end()};
  values.each_text([&, source, cells](std::int64_t row, std::string_view text) {
    put_text(table_, declared, cells + row, text, source);
  });
}

template <typename Raw>
void ColumnFiller::fill_cell(int field, std::int64_t row, const Literal& value, const Raw& raw) {
  const Field& declared = table_.table().schema().field(field);
  const auto text_of = [&](const Literal& text) {
    const bool hide = mask_ && declared.personal();
    return table_.keep_text(hide ? std::string_view(masked(text.text)) : text.text);
  };
  const auto store = [&]<typename Cell>(const std::optional<Cell>& cell) {
    if (!cell) return table_.set_null(field, row);
    table_.unset_null(field, row);
    table_.cells<Cell>(field)[row] = *cell;
  };
  const auto note = [&](Problem problem) { issues_.add(field, problem, row, raw); };
  const std::optional<int> offset = convert(declared.kind, value, text_of, store, note);
  if (declared.kind == Kind::timestamp) put_on_clock(field, row, offset, raw);
}

template <typename Raw>
void ColumnFiller::put_on_clock(int field, std::int64_t row, const std::optional<int>& offset,
                                const Raw& raw) {
  if (!table_.table().valid(field, row)) return;
  if (!clock_.zoned()) {
    if (offset) offset_times_.push_back({*offset, field, row, raw()});
    return;
  }
  std::int64_t& cell = table_.cells<std::int64_t>(field)[row];
  if (const auto time = clock_.at(cell, offset)) {
    cell = *time;
  } else {
    table_.set_null(field, row);
    issues_.add(field, Problem::out_of_range, row, raw);
  }
}

void ColumnFiller::fill_cell(int field, std::int64_t row, const Literal& value) {
  fill_cell(field, row, value, [&] { return std::string(value.raw()); });
}

void ColumnFiller::settle_offsets() {
  std::ranges::stable_sort(offset_times_, {}, &OffsetTime::row);  // they come column by column
  detail::settle_offsets(table_, offset_times_, [&](Problem problem, const OffsetTime& time) {
    issues_.add(time.field, problem, time.row, [&] { return time.raw; });
  });
}

}  // namespace tradingdata::detail
