// Takes a stream of batches over, matches its columns with the fields of a record, and fills these
// column by column. Converts values where nothing is lost, as the decoder does with JSON; what does
// not fit is null and an issue.
#include "decode/from_arrow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "base/simd.hpp"
#include "base/time.hpp"
#include "decode/arrow_extras.hpp"
#include "decode/arrow_input.hpp"
#include "decode/redact.hpp"

namespace tradingdata {

namespace {

using detail::ArrayReader;
using detail::ArrowExtras;
using detail::Taken;
using detail::Wire;
using detail::WireType;

[[noreturn]] void malformed(const std::string& what) {
  throw std::invalid_argument("the Arrow data is malformed: " + what);
}

[[noreturn]] void fail_as(ArrowArrayStream& stream, const char* what) {
  const char* const reason =
      stream.get_last_error != nullptr ? stream.get_last_error(&stream) : nullptr;
  throw std::invalid_argument("the Arrow data's producer failed " + std::string(what) +
                              (reason != nullptr ? std::string(": ") + reason : ""));
}

// The columns of a stream and all of its batches.
struct Input {
  Taken<ArrowSchema> schema;
  std::vector<Taken<ArrowArray>> batches;
  std::vector<std::string> names;
  std::int64_t rows = 0;
};

void check_schema(const ArrowSchema& schema) {
  if (schema.release == nullptr || schema.format == nullptr) malformed("it has no schema");
  if (std::string_view(schema.format) != "+s") {
    throw UnsupportedColumn("the Arrow data is one array, not a table: pass a table or a frame");
  }
  if (schema.n_children < 0 || (schema.n_children > 0 && schema.children == nullptr)) {
    malformed("its schema has no columns");
  }
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    if (schema.children[i] == nullptr) malformed("its schema lacks a column");
  }
}

void check_batch(const ArrowArray& batch, std::int64_t columns) {
  constexpr std::int64_t greatest = std::numeric_limits<std::int32_t>::max();
  if (batch.n_children != columns || (columns > 0 && batch.children == nullptr)) {
    malformed("a batch has another number of columns than its schema");
  }
  if (batch.length < 0 || batch.offset < 0 || batch.length > greatest || batch.offset > greatest) {
    malformed("a batch has a length or an offset out of range");
  }
  if (batch.null_count > 0) malformed("a row of a batch is null as a whole");
  for (std::int64_t i = 0; i < columns; ++i) {
    if (batch.children[i] == nullptr) malformed("a batch lacks a column");
  }
}

// The columns of a schema, and no batch yet.
Input input_of(Taken<ArrowSchema> schema) {
  check_schema(*schema);
  Input input;
  input.schema = std::move(schema);
  for (std::int64_t i = 0; i < input.schema->n_children; ++i) {
    const char* const name = input.schema->children[i]->name;
    input.names.emplace_back(name != nullptr ? name : "");
  }
  return input;
}

void add_batch(Input& input, Taken<ArrowArray> batch) {
  check_batch(*batch, input.schema->n_children);
  input.rows += batch->length;
  if (input.rows > std::numeric_limits<std::int32_t>::max()) {
    throw std::invalid_argument("the Arrow data has more rows than fit into one book");
  }
  input.batches.push_back(std::move(batch));
}

Input read_all(ArrowArrayStream& given) {
  Taken<ArrowArrayStream> stream(given);
  ArrowArrayStream& producer = *stream;
  if (producer.release == nullptr) malformed("it was consumed before");
  if (producer.get_schema == nullptr || producer.get_next == nullptr) {
    malformed("its stream has no functions");
  }
  Taken<ArrowSchema> schema;
  if (producer.get_schema(&producer, schema.get()) != 0) fail_as(producer, "with its schema");
  Input input = input_of(std::move(schema));
  for (;;) {
    Taken<ArrowArray> batch;
    if (producer.get_next(&producer, batch.get()) != 0) fail_as(producer, "with a batch of rows");
    if (batch->release == nullptr) return input;
    add_batch(input, std::move(batch));
  }
}

// What others add to the columns of a record: an archive, and pandas with its index.
bool is_added(std::string_view name) {
  for (const std::string_view added : {"day", "fetch", "received_at"}) {
    if (name == added) return true;
  }
  return name.starts_with("__index_level_") && name.ends_with("__");
}

// Calls work(values, first) for each array of a column.
template <typename Work>
void each_array(const Input& input, std::size_t column, const WireType& type, const Work& work) {
  std::int64_t first = 0;
  for (const Taken<ArrowArray>& batch : input.batches) {
    const ArrayReader values = ArrayReader::open(
        input.names[column], type, *batch->children[column], batch->offset, batch->length);
    work(values, first);
    first += batch->length;
  }
}

constexpr std::int32_t first_day = zero_date;
constexpr std::int32_t last_day =
    days_since_epoch({std::chrono::year(9999), std::chrono::December, std::chrono::day(31)});

bool takes(Kind kind, const WireType& type) {
  if (type.wire == Wire::null) return true;
  switch (kind) {
    case Kind::text: return type.is_text();
    case Kind::integer:
    case Kind::number: return type.is_integer() || type.is_float();
    case Kind::timestamp: return type.wire == Wire::timestamp;
    case Kind::date:
      return type.wire == Wire::date32 || type.wire == Wire::date64 ||
             (type.wire == Wire::timestamp && type.zone.empty());
  }
  return false;
}

void set_null(TableBuilder& table, int field, std::int64_t first, std::int64_t count) {
  for (std::int64_t row = first; row < first + count; ++row) table.set_null(field, row);
}

// What a cell holds, and what is to be noted of it.
template <typename Cell>
struct Converted {
  std::optional<Cell> cell = {};
  std::optional<Problem> problem = {};
};

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

// `zoned`: the value is an instant, whose wall clock time may be on the day before or after.
TRADINGDATA_INLINE Converted<std::int64_t> as_time(std::int64_t value, std::int64_t per_second,
                                                   bool zoned) {
  Converted<std::int64_t> time;
  std::int64_t micros = value;
  if (per_second > micros_per_second) {
    const std::int64_t finer = per_second / micros_per_second;
    micros = value / finer - (value % finer < 0 ? 1 : 0);
    if (value % finer != 0) time.problem = Problem::time_cut;
  } else {
    const std::int64_t coarser = micros_per_second / per_second;
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (value > most / coarser || value < -(most / coarser)) {
      return {.problem = Problem::out_of_range};
    }
    micros = value * coarser;
  }
  const std::int64_t first = first_day + (zoned ? 1 : 0);
  const std::int64_t last = last_day - (zoned ? 1 : 0);
  if (micros < first * micros_per_day || micros >= (last + 1) * micros_per_day) {
    return {.problem = Problem::out_of_range};
  }
  if (micros == zero_date * micros_per_day && !time.problem) return {};
  if (day_of(micros) == zero_date) return {.problem = Problem::out_of_range};
  time.cell = micros;
  return time;
}

Converted<std::int32_t> as_date(std::int64_t days) {
  if (days < first_day || days > last_day) return {.problem = Problem::out_of_range};
  if (days == zero_date) return {};
  return {static_cast<std::int32_t>(days)};
}

Converted<std::int32_t> as_date_of(std::int64_t value, std::int64_t per_second) {
  const Converted<std::int64_t> time = as_time(value, per_second, false);
  if (!time.cell) return {.problem = time.problem};
  const std::int32_t day = day_of(*time.cell);
  if (time.problem || *time.cell != day * micros_per_day) return {.problem = Problem::not_date};
  return as_date(day);
}

void check_takes(const Field& field, const WireType& type) {
  if (takes(field.kind, type)) return;
  throw UnsupportedColumn("column " + std::string(field.name) + " takes " +
                          std::string(name_of(field.kind)) +
                          ", and the Arrow data has another type: cast it before it is passed");
}

// Notes that a row has no value, or another one, where the column has one.
void note(TableBuilder& table, int field, Problem problem, std::int64_t row,
          const std::string& raw) {
  const std::string_view name = table.table().schema().field(field).name;
  std::vector<Issue>& issues = table.issues();
  auto found = std::ranges::find_if(
      issues, [&](const Issue& issue) { return issue.problem == problem && issue.field == name; });
  if (found == issues.end()) {
    found = issues.insert(found, {std::string(name), problem, 0, row, raw});
  }
  ++found->count;
}

// These fill the rows of a field from `first` on, which must be reserved.

template <typename Cell, typename Convert>
void fill_cells(TableBuilder& table, int field, const ArrayReader& values, std::int64_t first,
                const Convert& convert) {
  auto* const cells = table.cells<Cell>(field) + first;
  values.with_values([&](const auto* of_rows) {
    for (std::int64_t row = 0; row < values.length(); ++row) {
      Converted<Cell> converted;
      if (values.valid(row)) converted = convert(of_rows[row]);
      if (converted.problem) [[unlikely]]
        note(table, field, *converted.problem, first + row, std::to_string(of_rows[row]));
      if (converted.cell) {
        cells[row] = *converted.cell;
      } else {
        table.set_null(field, first + row);
      }
    }
  });
}

void fill_texts(TableBuilder& table, int field, const ArrayReader& values, std::int64_t first,
                bool mask) {
  auto* const cells = table.cells<TextView>(field) + first;
  const std::string_view name = table.table().schema().field(field).name;
  std::int64_t next = 0;  // rows before it are done
  const auto skip_to = [&](std::int64_t row) {
    for (; next < row; ++next) table.set_null(field, first + next);
  };
  values.each_text([&](std::int64_t row, std::string_view text) {
    skip_to(row);
    if (!values.is_ascii()) detail::check_utf8(name, text);
    TextView& cell = cells[next++];
    if (mask || text.size() > TextView::inline_capacity) {
      cell = table.keep_text(mask ? std::string_view(masked(text)) : text);
    } else if (values.text_end() - text.data() >= static_cast<std::ptrdiff_t>(sizeof cell)) {
      detail::store_view(&cell, text.data(), text.size(), 0);
    } else {
      cell.hold(text);
    }
  });
  skip_to(values.length());
}

void fill(TableBuilder& table, int field, const WireType& type, const ArrayReader& values,
          std::int64_t first, bool mask) {
  const auto cells = [&]<typename Cell>(Cell, const auto& convert) {
    fill_cells<Cell>(table, field, values, first, convert);
  };
  const Field& declared = table.table().schema().field(field);
  if (type.wire == Wire::null) return set_null(table, field, first, values.length());
  switch (declared.kind) {
    case Kind::text: return fill_texts(table, field, values, first, mask && declared.personal());
    case Kind::integer: return cells(std::int64_t{}, [](auto value) { return as_integer(value); });
    case Kind::number: return cells(double{}, [](auto value) { return as_number(value); });
    case Kind::timestamp:
      // By value, so that the divisions of the unit leave the loop.
      return cells(std::int64_t{},
                   [unit = type.per_second, zoned = !type.zone.empty()](auto value) {
                     return as_time(static_cast<std::int64_t>(+value), unit, zoned);
                   });
    case Kind::date:
      return cells(std::int32_t{}, [&type](auto value) {
        const auto units = static_cast<std::int64_t>(+value);
        if (type.wire == Wire::date32) return as_date(units);
        constexpr std::int64_t milliseconds = 1000;
        return as_date_of(units, type.wire == Wire::date64 ? milliseconds : type.per_second);
      });
  }
}

// Null throughout: no column has the field.
void fill_missing(TableBuilder& table, int field, std::int64_t rows) {
  set_null(table, field, 0, rows);
  const Field& declared = table.table().schema().field(field);
  if (rows == 0 || declared.optional()) return;
  table.issues().push_back({std::string(declared.name), Problem::missing, rows, 0, {}});
}

ArrowTable table_of(const Schema& schema, const Input& input, bool keep_personal_data) {
  ArrowTable made{TableBuilder(schema), {}};
  TableBuilder& table = made.table;
  table.reserve(input.rows);
  const bool mask = !keep_personal_data;
  table.set_masked(mask);

  std::optional<std::size_t> zoned;  // the last column of times, which are all in one zone
  ArrowExtras extras(table, mask);
  std::vector<std::optional<std::size_t>> column_of(schema.fields.size());
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < input.names.size(); ++i) {
    const std::string& name = input.names[i];
    if (!seen.insert(name).second) {
      throw std::invalid_argument("the Arrow data has two columns named " + name);
    }
    const int field = schema.find(name);
    if (field >= 0) {
      column_of[static_cast<std::size_t>(field)] = i;
    } else if (!is_added(name)) {
      const WireType type = detail::wire_type(*input.schema->children[i]);
      const bool objects = name == extra_column && (type.is_text() || type.wire == Wire::null);
      each_array(input, i, type, [&](const ArrayReader& values, std::int64_t first) {
        if (!objects) {
          extras.add_column(name, type, values, first);
        } else if (type.is_text()) {
          extras.add_objects(values, first);
        }
      });
    }
  }
  for (int field = 0; field < schema.width(); ++field) {
    const std::optional<std::size_t> column = column_of[static_cast<std::size_t>(field)];
    if (!column) {
      fill_missing(table, field, input.rows);
      continue;
    }
    const WireType type = detail::wire_type(*input.schema->children[*column]);
    check_takes(schema.field(field), type);
    if (schema.field(field).kind == Kind::timestamp && type.wire == Wire::timestamp) {
      if (zoned && made.time_zone != type.zone) {
        throw UnsupportedColumn("column " + input.names[*column] +
                                " is in another time zone than column " + input.names[*zoned] +
                                ": convert them to the same");
      }
      zoned = column;
      made.time_zone = type.zone;
    }
    each_array(input, *column, type, [&](const ArrayReader& values, std::int64_t first) {
      fill(table, field, type, values, first, mask);
    });
  }
  extras.finish();
  table.set_rows(input.rows);
  return made;
}

}  // namespace

ArrowTable table_from_arrow(const Schema& schema, ArrowArrayStream& stream,
                            bool keep_personal_data) {
  return table_of(schema, read_all(stream), keep_personal_data);
}

ArrowTable table_from_arrow(const Schema& schema, ArrowSchema& columns, ArrowArray& batch,
                            bool keep_personal_data) {
  Taken<ArrowArray> taken(batch);
  Input input = input_of(Taken<ArrowSchema>(columns));
  if (taken->release != nullptr) add_batch(input, std::move(taken));
  return table_of(schema, input, keep_personal_data);
}

void to_wall_clock(TableBuilder& table, const ZoneOffset& offset) {
  const Table& filled = table.table();
  for (int field = 0; field < filled.schema().width(); ++field) {
    if (filled.schema().field(field).kind != Kind::timestamp) continue;
    auto* const micros = table.cells<std::int64_t>(field);
    for (std::int64_t row = 0; row < filled.rows(); ++row) {
      if (filled.valid(field, row)) micros[row] += offset(micros[row]);
    }
  }
}

}  // namespace tradingdata
