// Numbers and times are read as they lie in memory; text is read by the decoder's own rules.
#include "decode/arrow_cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/number.hpp"
#include "base/simd.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "decode/arrow_extras.hpp"
#include "decode/text_values.hpp"
#include "privacy/personal.hpp"
#include "privacy/shown.hpp"

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

// What a value is in a column of a kind. Types that the kind does not take (`takes`) do not occur.

Converted<std::int64_t> as_integer(std::string_view text) {
  return integer_from(text);
}
Converted<std::int64_t> as_integer(const Decimal& value) {
  return integer_from(value.digits);
}
template <typename Value>
Converted<std::int64_t> as_integer(Value value) {
  if constexpr (std::is_floating_point_v<Value>) {
    constexpr double limit = 9223372036854775808.0;
    const double number = value;
    if (std::isnan(number)) return {};
    if (!(number >= -limit && number < limit)) return {.problem = Problem::out_of_range};
    if (number != std::floor(number)) return {.problem = Problem::not_integer};
    return {static_cast<std::int64_t>(number)};
  } else {
    if constexpr (std::is_same_v<Value, std::uint64_t>) {
      if (value > std::numeric_limits<std::int64_t>::max()) {
        return {.problem = Problem::out_of_range};
      }
    }
    return {static_cast<std::int64_t>(value)};
  }
}

Converted<double> as_number(std::string_view text) {
  return number_from(text);
}
Converted<double> as_number(const Decimal& value) {
  return number_from(value.digits);
}
template <typename Value>
Converted<double> as_number(Value value) {
  if constexpr (std::is_floating_point_v<Value>) {
    if (std::isnan(value)) return {};
    if (std::isinf(value)) return {.problem = Problem::out_of_range};
    return {static_cast<double>(value)};
  } else {
    const Converted<std::int64_t> whole = as_integer(value);
    const auto exact = whole.cell ? exact_double(*whole.cell) : std::nullopt;
    if (!exact) return {.problem = Problem::would_round};
    return {.cell = exact};
  }
}

// The unit of times, with what would otherwise be divided for each of them.
class TimeUnit {
 public:
  // `zoned`: values are instants, whose wall clock times may be on the day before or after.
  TimeUnit(std::int64_t per_second, bool zoned)
      : finer_(std::max<std::int64_t>(per_second / micros_per_second, 1)),
        coarser_(per_second > 0 ? std::max<std::int64_t>(micros_per_second / per_second, 1) : 1),
        most_(std::numeric_limits<std::int64_t>::max() / coarser_),
        end_((last_date + 1 - (zoned ? 1 : 0)) * micros_per_day),
        zoned_(zoned) {}

  TRADINGDATA_INLINE Converted<std::int64_t> micros_of(std::int64_t value) const {
    if (value > most_ || value < -most_) return {.problem = Problem::out_of_range};
    std::int64_t micros = value * coarser_;
    std::optional<Problem> problem;
    if (finer_ > 1) {
      micros = value / finer_ - (value % finer_ < 0 ? 1 : 0);
      if (value % finer_ != 0) problem = Problem::time_cut;
    }
    if (micros == zero_date * micros_per_day && !problem && !zoned_) return {};
    constexpr std::int64_t first = (zero_date + 1) * micros_per_day;
    if (micros < first || micros >= end_) return {.problem = Problem::out_of_range};
    return {micros, problem};
  }

 private:
  std::int64_t finer_;
  std::int64_t coarser_;
  std::int64_t most_;
  std::int64_t end_;
  bool zoned_;
};

Converted<std::int32_t> as_date(std::int64_t days) {
  if (days < zero_date || days > last_date) return {.problem = Problem::out_of_range};
  if (days == zero_date) return {};
  return {static_cast<std::int32_t>(days)};
}

Converted<std::int32_t> as_date_of(const Converted<std::int64_t>& time) {
  if (!time.cell) return {.problem = time.problem};
  const std::int32_t day = day_of(*time.cell);
  if (time.problem || *time.cell != day * micros_per_day) return {.problem = Problem::not_date};
  return as_date(day);
}

// The exact digits of a value, which text columns keep; nothing where some are lost.
template <typename Value>
Converted<std::string> as_digits(const Value& value) {
  if constexpr (std::is_floating_point_v<Value>) {
    constexpr double exact = 9007199254740992.0;  // larger ones may have been rounded
    const double number = value;
    if (std::isnan(number)) return {};
    if (std::isinf(number)) return {.problem = Problem::not_text};
    if (number != std::floor(number)) return {digits_of(value)};
    if (std::abs(number) > exact) return {.problem = Problem::would_round};
    return {digits_of(static_cast<std::int64_t>(number))};
  } else {
    return {written(value)};
  }
}

constexpr std::int64_t most_shown = 64;  // bytes of a value in an issue, as of one that was decoded

// The JSON of a value, as an issue shows it.
std::string shown(std::string_view text) {
  std::string json;
  put_json_text(json, text);
  return redacted_line(json, most_shown, nullptr);
}
template <typename Value>
std::string shown(const Value& value) {
  return written(value);
}

// Notes that a row has no value, or another one, where the column has one, which `raw` gives.
template <typename Raw>
void note(TableBuilder& table, int field, Problem problem, std::int64_t row, const Raw& raw) {
  const Field& noted = table.table().schema().field(field);
  std::vector<Issue>& issues = table.issues();
  auto found = std::ranges::find_if(issues, [&](const Issue& issue) {
    return issue.problem == problem && issue.field == noted.name;
  });
  if (found == issues.end()) {
    const std::string visible = noted.personal() ? std::string() : raw();
    found = issues.insert(found, {std::string(noted.name), problem, 0, row, visible});
  }
  ++found->count;
}

// Fills the rows of a field with the values of a part.
class Filler {
 public:
  Filler(TableBuilder& table, int field, const ArrowPart& part, std::vector<TextOffset>& offsets)
      : table_(table),
        position_(field),
        field_(table.table().schema().field(field)),
        part_(part),
        values_(part.values),
        offsets_(offsets) {}

  void fill() {
    const WireType& type = values_.type();
    const TimeUnit unit(type.per_second, !type.zone.empty());
    for (std::int64_t row = 0; row < values_.length() && values_.may_have_nulls(); ++row) {
      if (!values_.valid(row)) table_.set_null(position_, part_.first + row);
    }
    switch (field_.kind) {
      case Kind::text:
        if (type.is_text()) return fill_texts();
        return fill_cells<TextView>([&](const auto& value, auto) { return as_text(value); });
      case Kind::integer:
        return fill_cells<std::int64_t>([](const auto& value, auto) { return as_integer(value); });
      case Kind::number:
        return fill_cells<double>([](const auto& value, auto) { return as_number(value); });
      case Kind::timestamp:
        return fill_cells<std::int64_t>([this, unit](const auto& value, auto row) {
          if constexpr (is_text<decltype(value)>) return time_of(value, row);
          const auto units = units_of(value);
          return units ? unit.micros_of(*units) : Converted<std::int64_t>();
        });
      case Kind::date:
        return fill_cells<std::int32_t>([&](const auto& value, auto) {
          if constexpr (is_text<decltype(value)>) return date_from(value);
          const auto units = units_of(value);
          if (!units) return Converted<std::int32_t>();
          return type.wire == Wire::date32 ? as_date(*units) : as_date_of(unit.micros_of(*units));
        });
    }
  }

 private:
  template <typename Value>
  static constexpr bool is_text = std::is_same_v<Value, const std::string_view&>;

  template <typename Cell, typename Convert>
  void fill_cells(const Convert& convert) {
    auto* const cells = table_.cells<Cell>(position_) + part_.first;
    const bool numeric = field_.kind == Kind::integer || field_.kind == Kind::number;
    values_.each([&](std::int64_t row, const auto& value) {
      if constexpr (is_text<decltype(value)>) check_utf8(field_.name, value);
      Converted<Cell> converted = convert(value, part_.first + row);
      if constexpr (is_text<decltype(value)>) {
        if (numeric && converted.cell) note_value(Problem::number_as_text, row, value);
        if (value.empty() && converted.problem) converted.problem = Problem::empty_text;
      }
      if (converted.problem) [[unlikely]]
        note_value(*converted.problem, row, value);
      if (converted.cell) {
        cells[row] = *converted.cell;
      } else {
        table_.set_null(position_, part_.first + row);
      }
    });
  }

  void fill_texts() {
    auto* const cells = table_.cells<TextView>(position_) + part_.first;
    if (part_.mask) {
      return values_.each_text([&](std::int64_t row, std::string_view text) {
        check_utf8(field_.name, text);
        cells[row] = table_.keep_text(masked(text));
      });
    }
    const ArrayReader* const texts = values_.dictionary();
    if (texts == nullptr) {
      const Source source{values_.is_ascii(), values_.text_end()};
      return values_.each_text(
          [=, this](std::int64_t row, std::string_view text) { put(cells + row, text, source); });
    }
    // Each text of the dictionary that has a row is kept once.
    std::vector<TextView> views(static_cast<std::size_t>(texts->length()));
    std::vector<bool> used(views.size());
    const auto each_code = [&](const auto& work) {
      for (std::int64_t row = 0; row < values_.length(); ++row) {
        if (values_.code(row) >= 0) work(row, static_cast<std::size_t>(values_.code(row)));
      }
    };
    each_code([&](std::int64_t, std::size_t code) { used[code] = true; });
    texts->each_text([&](std::int64_t at, std::string_view text) {
      const auto code = static_cast<std::size_t>(at);
      if (used[code]) put(&views[code], text, {texts->is_ascii(), texts->text_end()});
    });
    each_code([&](std::int64_t row, std::size_t code) { cells[row] = views[code]; });
  }

  // What is known of texts, kept in registers while cells are written.
  struct Source {
    bool is_ascii;
    const char* end;
  };

  TRADINGDATA_INLINE void put(TextView* cell, std::string_view text, const Source& from) {
    const bool may_load = from.end - text.data() >= static_cast<std::ptrdiff_t>(sizeof *cell);
    if (!from.is_ascii || !may_load || text.size() > TextView::inline_capacity) [[unlikely]] {
      return put_slowly(cell, text, from.is_ascii);
    }
    store_view(cell, text.data(), text.size(), 0);
  }

  TRADINGDATA_NOINLINE void put_slowly(TextView* cell, std::string_view text, bool is_ascii) {
    if (!is_ascii) check_utf8(field_.name, text);
    *cell = table_.keep_text(text);
  }

  template <typename Value>
  Converted<TextView> as_text(const Value& value) {
    if constexpr (is_text<const Value&>)
      return {};
    else {
      const Converted<std::string> digits = as_digits(value);
      if (!digits.cell) return {.problem = digits.problem};
      const std::string& text = part_.mask ? masked(*digits.cell) : *digits.cell;
      return {.cell = table_.keep_text(text), .problem = Problem::text_as_number};
    }
  }

  // The units of a time or date. pandas reads a column of a CSV that has no values as floats, all
  // of them NaN.
  template <typename Value>
  std::optional<std::int64_t> units_of(const Value& value) const {
    if constexpr (std::is_integral_v<Value>) return static_cast<std::int64_t>(value);
    if constexpr (std::is_floating_point_v<Value>) {
      if (!std::isnan(value)) throw unsupported(field_);
    }
    return std::nullopt;
  }

  Converted<std::int64_t> time_of(std::string_view text, std::int64_t row) {
    std::optional<int> offset;
    const Converted<std::int64_t> time = time_from(text, offset);
    if (offset) offsets_.push_back({*offset, position_, row, shown(text)});
    return time;
  }

  template <typename Value>
  void note_value(Problem problem, std::int64_t row, const Value& value) {
    note(table_, position_, problem, part_.first + row, [&] { return shown(value); });
  }

  TableBuilder& table_;
  int position_;
  const Field& field_;
  const ArrowPart& part_;
  const ArrayReader& values_;
  std::vector<TextOffset>& offsets_;
};

}  // namespace

void check_takes(const Field& field, const WireType& type) {
  if (!takes(field.kind, type)) throw unsupported(field);
}

void fill_from_arrow(TableBuilder& table, int field, const ArrowPart& part,
                     std::vector<TextOffset>& offsets) {
  Filler(table, field, part, offsets).fill();
}

void fill_from_json(TableBuilder& table, int field, std::int64_t row, const Literal& value,
                    std::vector<TextOffset>& offsets) {
  const auto raw = [&] { return redacted_line(value.raw(), most_shown, nullptr); };
  const auto text_of = [&](const Literal& text) { return table.keep_text(text.text); };
  const auto store = [&]<typename Cell>(const std::optional<Cell>& cell) {
    if (!cell) return;
    table.unset_null(field, row);
    table.cells<Cell>(field)[row] = *cell;
  };
  const auto note_problem = [&](Problem problem) { note(table, field, problem, row, raw); };
  const Kind kind = table.table().schema().field(field).kind;
  const auto offset = convert(kind, value, text_of, store, note_problem);
  if (offset) offsets.push_back({*offset, field, row, raw()});
}

void settle_text_offsets(TableBuilder& table, const std::vector<TextOffset>& offsets) {
  const auto note_of = [&](Problem problem, int field, std::int64_t row, const TextOffset* time) {
    note(table, field, problem, row, [&] {
      if (time != nullptr) return time->raw;
      return shown(std::string_view(format_timestamp(table.cells<std::int64_t>(field)[row])));
    });
  };
  if (!offsets.empty()) settle_offsets(table, offsets, note_of);
}

}  // namespace tradingdata::detail
