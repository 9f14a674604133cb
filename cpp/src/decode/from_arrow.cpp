// Takes a stream of batches over, matches its columns with the fields of a record, and fills these
// column by column.
#include "decode/from_arrow.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "decode/arrow_cells.hpp"
#include "decode/arrow_extras.hpp"
#include "decode/arrow_input.hpp"

namespace tradingdata {

namespace {

// The name of the column with the unknown fields of each row, as the text of a JSON object.
constexpr char extra_column[] = "extra";

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

// The count of a producer that has not counted is -1.
bool has_null_row(const ArrowArray& batch) {
  if (batch.null_count >= 0) return batch.null_count > 0;
  const bool has_bitmap =
      batch.n_buffers == 1 && batch.buffers != nullptr && batch.buffers[0] != nullptr;
  return has_bitmap && !detail::all_set(batch.buffers[0], batch.offset, batch.length);
}

void check_batch(const ArrowArray& batch, std::int64_t columns) {
  constexpr std::int64_t greatest = std::numeric_limits<std::int32_t>::max();
  if (batch.n_children != columns || (columns > 0 && batch.children == nullptr)) {
    malformed("a batch has another number of columns than its schema");
  }
  if (batch.length < 0 || batch.offset < 0 || batch.length > greatest || batch.offset > greatest) {
    malformed("a batch has a length or an offset out of range");
  }
  if (has_null_row(batch)) malformed("a row of a batch is null as a whole");
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

// Gives columns the names of fields.
void rename(Input& input, const std::map<std::string, std::string>& names) {
  std::vector<std::string> renamed = input.names;
  for (const auto& [from, to] : names) {
    const auto found = std::ranges::find(input.names, from);
    if (found == input.names.end()) {
      throw std::invalid_argument("`names` has a column " + from + ", which the data lacks");
    }
    renamed[static_cast<std::size_t>(found - input.names.begin())] = to;
  }
  input.names = std::move(renamed);
}

// What others add to the columns of a record: an archive, and pandas with its index.
bool is_added(std::string_view name) {
  for (const std::string_view added : {"day", "fetch_id", "received_at", "sent"}) {
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

// Notes how many rows lack a field that no column has.
void note_missing(TableBuilder& table, int field, std::int64_t rows, const ArrowExtras& extras) {
  const ArrowExtras::Rows with = extras.rows_with(field);
  const Field& declared = table.table().schema().field(field);
  if (with.count == rows || declared.optional()) return;
  table.issues().push_back(
      {std::string(declared.name), Problem::missing, rows - with.count, with.first_without, {}});
}

ArrowTable table_of(const Schema& schema, const Input& input, const ArrowOptions& options) {
  ArrowTable made{TableBuilder(schema), {}};
  TableBuilder& table = made.table;
  table.reserve(input.rows);
  const bool mask = !options.keep_personal_data;
  table.set_masked(mask);

  std::optional<std::size_t> zoned;  // the last column of times, which are all in one zone
  std::vector<detail::TextOffset> offsets;
  std::vector<std::size_t> unknown;
  std::vector<std::optional<std::size_t>> column_of(schema.fields.size());
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < input.names.size(); ++i) {
    const std::string& name = input.names[i];
    if (!seen.insert(name).second) {
      throw std::invalid_argument("the Arrow data has two columns named " + name);
    }
    if (options.constants.contains(name)) {
      throw std::invalid_argument("`constants` has a value for " + name +
                                  ", which is also a column of the data");
    }
    const int field = schema.find(name);
    if (field >= 0) {
      column_of[static_cast<std::size_t>(field)] = i;
    } else if (!is_added(name)) {
      unknown.push_back(i);
    }
  }
  for (int field = 0; field < schema.width(); ++field) {
    const std::optional<std::size_t> column = column_of[static_cast<std::size_t>(field)];
    if (!column) {
      table.set_nulls(field, 0, input.rows);
      continue;
    }
    const WireType type = detail::wire_type(*input.schema->children[*column]);
    detail::check_takes(schema.field(field), type);
    const bool has_times = type.wire == Wire::timestamp || type.is_text();
    if (schema.field(field).kind == Kind::timestamp && has_times) {
      if (zoned && made.time_zone != type.zone) {
        throw UnsupportedColumn("column " + input.names[*column] +
                                " is in another time zone than column " + input.names[*zoned] +
                                ": convert them to the same");
      }
      zoned = column;
      made.time_zone = type.zone;
    }
    each_array(input, *column, type, [&](const ArrayReader& values, std::int64_t first) {
      const bool personal = schema.field(field).personal();
      detail::fill_from_arrow(table, field, {values, first, mask && personal}, offsets);
    });
  }
  ArrowExtras extras(table, mask, offsets);
  for (const std::size_t i : unknown) {
    const WireType type = detail::wire_type(*input.schema->children[i]);
    const bool objects =
        input.names[i] == extra_column && (type.is_text() || type.wire == Wire::null);
    each_array(input, i, type, [&](const ArrayReader& values, std::int64_t first) {
      if (!objects) {
        extras.add_column(input.names[i], values, first);
      } else if (type.is_text()) {
        extras.add_objects(values, first);
      }
    });
  }
  extras.finish();
  for (int field = 0; field < schema.width() && options.is_complete; ++field) {
    if (!column_of[static_cast<std::size_t>(field)]) note_missing(table, field, input.rows, extras);
  }
  table.set_rows(input.rows);
  detail::settle_text_offsets(table, offsets);
  return made;
}

}  // namespace

ArrowTable table_from_arrow(const Schema& schema, ArrowArrayStream& stream,
                            const ArrowOptions& options) {
  Input input = read_all(stream);
  rename(input, options.names);
  return table_of(schema, input, options);
}

ArrowTable table_from_arrow(const Schema& schema, ArrowSchema& columns, ArrowArray& batch,
                            const ArrowOptions& options) {
  Taken<ArrowArray> taken(batch);
  Input input = input_of(Taken<ArrowSchema>(columns));
  if (taken->release != nullptr) add_batch(input, std::move(taken));
  rename(input, options.names);
  return table_of(schema, input, options);
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
