// Takes a stream of batches over, matches its columns with the fields of a record, and fills these
// column by column.
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

#include "base/time.hpp"
#include "decode/arrow_arrays.hpp"
#include "decode/arrow_json.hpp"
#include "decode/column_filler.hpp"
#include "decode/decode.hpp"
#include "decode/json.hpp"
#include "decode/pan_mask.hpp"
#include "privacy/personal.hpp"

namespace tradingdata {

namespace {

// The name of the column with the unknown fields of each row, as the text of a JSON object.
constexpr char extra_column[] = "extra";

using detail::ArrayReader;
using detail::ColumnFiller;
using detail::Document;
using detail::Literal;
using detail::Pair;
using detail::TableClock;
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

// The count of a producer that has not counted is -1.
bool has_null_row(const ArrowArray& batch) {
  if (batch.null_count >= 0) return batch.null_count > 0;
  const bool has_bitmap =
      batch.n_buffers == 1 && batch.buffers != nullptr && batch.buffers[0] != nullptr;
  return has_bitmap && !detail::all_set(batch.buffers[0], batch.offset, batch.length);
}

// The columns of a schema, and no batch yet.
Input input_of(Taken<ArrowSchema> schema) {
  if (schema->release == nullptr) malformed("it has no schema");
  if (std::string_view(schema->format) != "+s") {
    throw UnsupportedColumn("the Arrow data is one array, not a table: pass a table or a frame");
  }
  Input input;
  input.schema = std::move(schema);
  for (std::int64_t i = 0; i < input.schema->n_children; ++i) {
    const char* const name = input.schema->children[i]->name;
    input.names.emplace_back(name != nullptr ? name : "");
  }
  return input;
}

void add_batch(Input& input, Taken<ArrowArray> batch) {
  if (has_null_row(*batch)) malformed("a row of a batch is null as a whole");
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
  for (const std::string_view added : {"day", "fetch_id", "received_at", "last_seen", "sent"}) {
    if (name == added) return true;
  }
  return name.starts_with("__index_level_") && name.ends_with("__");
}

// A column of the data, and its type.
struct Source {
  std::size_t column;
  WireType type;
};

// Calls work(values, first) for each array of a column.
template <typename Work>
void each_array(const Input& input, const Source& source, const Work& work) {
  const std::size_t column = source.column;
  std::int64_t first = 0;
  for (const Taken<ArrowArray>& batch : input.batches) {
    const ArrayReader values = ArrayReader::open(
        input.names[column], source.type, *batch->children[column], batch->offset, batch->length);
    work(values, first);
    first += batch->length;
  }
}

// Calls work(name, value) for each value of a JSON object, which may be "".
template <typename Work>
void each_constant(std::string_view object, const Work& work) {
  constexpr int depth = 1;
  if (object.empty()) return;
  const Buffer bytes(object);
  const Document body(bytes);
  std::string scratch;
  visit_pairs(body, body.begin(), depth, [&](const Pair& pair) {
    work(pair.name(), read_literal(body, pair.value, depth, scratch));
    return true;
  });
}

// A personal value, masked as in a response.
std::string hidden(std::string_view json) {
  Buffer bytes(json);
  const Document body(bytes);
  detail::PanMask(body, true).hide_in_field(true, body.begin(), body.end());
  return std::string(bytes.view());
}

// The unknown fields of rows: columns that the record does not have, and the members of JSON
// objects. They come column by column, and a table has them by row.
class UnknownFields {
 public:
  // The cells of the columns must be filled before.
  UnknownFields(TableBuilder& table, bool mask, ColumnFiller& filler)
      : table_(table),
        mask_(mask),
        filler_(filler),
        of_field_(table.table().schema().fields.size()) {}

  // A column that the schema does not have: each value that is not null, as JSON.
  void add_column(const std::string& name, const ArrayReader& values, std::int64_t first) {
    detail::check_utf8(name, name);
    const std::int32_t number = table_.extra_name(name);
    const bool hide = mask_ && is_personal_name(name);
    detail::ArrowLiterals literals(values.type(), values.type().wire == Wire::date64);
    values.each([&]<typename Value>(std::int64_t row, const Value& value) {
      if constexpr (std::is_same_v<Value, std::string_view>) detail::check_utf8(name, value);
      Literal literal = literals.of(value);
      if (literal.type == Literal::Type::null) return;
      if constexpr (std::is_floating_point_v<Value>) {  // many readers of JSON take no 1e999
        if (std::isinf(value)) {
          literal.type = Literal::Type::text;
          literal.text = value > 0 ? "inf" : "-inf";
        }
      }
      const std::string json = detail::json_of(literal);
      add(first + row, number, hide ? hidden(json) : json);
    });
  }

  // The column of JSON objects. What was unknown when it was stored and is a field now fills its
  // cell, unless that has a value. Throws std::invalid_argument where a text is no JSON object.
  void add_objects(const ArrayReader& values, std::int64_t first) {
    values.each_text([&](std::int64_t row, std::string_view text) {
      if (text.empty()) return;
      try {
        add_object(first + row, mask_ ? std::string_view(masked_json(text)) : text);
      } catch (const Error& error) {
        throw std::invalid_argument("row " + std::to_string(first + row) +
                                    " of the column extra is " + "no JSON object: " + error.what());
      }
    });
  }

  // Of a field: how many objects have it, the first row without it, and the last with it.
  struct Presence {
    std::int64_t count = 0;
    std::int64_t first_without = 0;
    std::int64_t latest = -1;
  };
  Presence presence(int field) const { return of_field_[static_cast<std::size_t>(field)]; }

  // Adds them to the table, row by row; of two with one name in a row, the last.
  void finish() {
    std::stable_sort(extras_.begin(), extras_.end(),
                     [](const Extra& a, const Extra& b) { return a.row < b.row; });
    std::vector<Extra>& out = table_.extras();
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::vector<std::size_t> latest(table_.table().extra_names().size(), none);  // by name
    for (const Extra& extra : extras_) {
      std::size_t& place = latest[static_cast<std::size_t>(extra.name)];
      if (place != none && out[place].row == extra.row) {
        out[place] = extra;
      } else {
        place = out.size();
        out.push_back(extra);
      }
    }
  }

 private:
  void add(std::int64_t row, std::int32_t name, std::string_view json) {
    const auto [buffer, offset] = table_.keep_bytes(json);
    extras_.push_back({.row = row,
                       .name = name,
                       .buffer = buffer,
                       .offset = offset,
                       .size = static_cast<std::int32_t>(json.size())});
  }

  void add_object(std::int64_t row, std::string_view text) {
    constexpr int depth = 1;
    object_.clear();
    object_.append(text);
    const Document body(object_);
    const char* const begin = body.pass_space(body.begin());
    if (*begin != '{') body.fail(begin, "an object must be here");
    body.pass_end(body.pass_value(begin, depth - 1));
    visit_pairs(body, begin, depth, [&](const Pair& pair) {
      const std::string name = pair.name();
      const int field = table_.table().schema().find_sent(name);
      if (field >= 0) {
        fill(field, row, read_literal(body, pair.value, depth, scratch_));
        return true;
      }
      const char* const end = body.pass_value(pair.value, depth);
      add(row, table_.extra_name(name), {pair.value, static_cast<std::size_t>(end - pair.value)});
      return true;
    });
  }

  void fill(int field, std::int64_t row, const Literal& value) {
    if (!table_.table().valid(field, row)) filler_.fill_cell(field, row, value);
    Presence& rows = of_field_[static_cast<std::size_t>(field)];
    if (rows.latest == row) return;  // it has the field twice
    ++rows.count;
    rows.latest = row;
    if (rows.first_without == row) ++rows.first_without;
  }

  TableBuilder& table_;
  bool mask_;
  ColumnFiller& filler_;
  std::vector<Extra> extras_;
  std::vector<Presence> of_field_;
  Buffer object_;
  std::string scratch_;
};

// Makes a table of data that was read, whose columns are matched with the fields of a record.
class TableReader {
 public:
  TableReader(const Schema& schema, const Input& input, const ArrowOptions& options)
      : schema_(schema), input_(input), options_(options), of_field_(schema.fields.size()) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < input.names.size(); ++i) {
      const std::string& name = input.names[i];
      if (!seen.insert(name).second) {
        throw std::invalid_argument("the Arrow data has two columns named " + name);
      }
      const int field = schema.find(name);
      if (field < 0 && is_added(name)) continue;
      Source source{i, detail::wire_type(*input.schema->children[i])};
      if (field < 0) {
        unknown_.push_back(std::move(source));
      } else {
        ColumnFiller::check_takes(schema.field(field), source.type);
        of_field_[static_cast<std::size_t>(field)] = std::move(source);
      }
    }
    each_constant(options.constants, [&](const std::string& name, const Literal&) {
      if (!seen.contains(name)) return;
      throw std::invalid_argument("`constants` has a value for " + name +
                                  ", which is also a column of the data");
    });
  }

  ArrowTable read() const {
    const std::string zone = time_zone();
    if (zone.empty()) return {filled(TableClock()), zone};
    const ZoneOffsets offsets = options_.offsets_of(zone);
    try {
      return {filled(TableClock::of_zone(offsets.of_instants)), zone};
    } catch (const SecondOfTwo&) {
      return {filled(TableClock::utc(offsets.of_clock)), "UTC"};
    }
  }

 private:
  // The zone that all columns of times are in; "" where they have none, as text has none.
  std::string time_zone() const {
    const Source* known = nullptr;
    for (int field = 0; field < schema_.width(); ++field) {
      const std::optional<Source>& source = of_field_[static_cast<std::size_t>(field)];
      if (!source || schema_.field(field).kind != Kind::timestamp) continue;
      if (source->type.wire != Wire::timestamp && !source->type.is_text()) continue;
      if (known != nullptr && known->type.zone != source->type.zone) {
        throw UnsupportedColumn("column " + input_.names[source->column] +
                                " is in another time zone than column " +
                                input_.names[known->column] + ": convert them to the same");
      }
      known = &*source;
    }
    return known != nullptr ? known->type.zone : "";
  }

  TableBuilder filled(const TableClock& clock) const {
    const bool mask = !options_.keep_personal_data;
    TableBuilder table(schema_);
    table.reserve(input_.rows);
    table.set_masked(mask);
    ColumnFiller filler(table, clock, mask);
    for (int field = 0; field < schema_.width(); ++field) {
      const std::optional<Source>& source = of_field_[static_cast<std::size_t>(field)];
      if (!source) {
        table.set_nulls(field, 0, input_.rows);
        continue;
      }
      each_array(input_, *source, [&](const ArrayReader& values, std::int64_t first) {
        filler.fill(field, values, first);
      });
    }
    each_constant(options_.constants, [&](const std::string& name, const Literal& value) {
      const int field = schema_.find(name);
      for (std::int64_t row = 0; row < input_.rows; ++row) filler.fill_cell(field, row, value);
    });
    UnknownFields unknown(table, mask, filler);
    for (const Source& source : unknown_) read_unknown(unknown, source);
    unknown.finish();
    if (options_.is_complete) note_missing(table, unknown);
    table.set_rows(input_.rows);
    filler.settle_offsets();
    return table;
  }

  void read_unknown(UnknownFields& unknown, const Source& source) const {
    const std::string& name = input_.names[source.column];
    const bool is_null = source.type.wire == Wire::null;
    const bool objects = name == extra_column && (source.type.is_text() || is_null);
    each_array(input_, source, [&](const ArrayReader& values, std::int64_t first) {
      if (!objects) {
        unknown.add_column(name, values, first);
      } else if (!is_null) {
        unknown.add_objects(values, first);
      }
    });
  }

  // Notes how many rows lack each field that no column has.
  void note_missing(TableBuilder& table, const UnknownFields& unknown) const {
    for (int field = 0; field < schema_.width(); ++field) {
      const Field& declared = schema_.field(field);
      if (of_field_[static_cast<std::size_t>(field)] || declared.optional()) continue;
      const UnknownFields::Presence with = unknown.presence(field);
      if (with.count == input_.rows) continue;
      table.issues().push_back({std::string(declared.name),
                                Problem::missing,
                                input_.rows - with.count,
                                with.first_without,
                                {}});
    }
  }

  const Schema& schema_;
  const Input& input_;
  const ArrowOptions& options_;
  std::vector<std::optional<Source>> of_field_;
  std::vector<Source> unknown_;
};

}  // namespace

ArrowTable table_from_arrow(const Schema& schema, ArrowArrayStream& stream,
                            const ArrowOptions& options) {
  Input input = read_all(stream);
  rename(input, options.names);
  return TableReader(schema, input, options).read();
}

ArrowTable table_from_arrow(const Schema& schema, ArrowSchema& columns, ArrowArray& batch,
                            const ArrowOptions& options) {
  Taken<ArrowArray> taken(batch);
  Input input = input_of(Taken<ArrowSchema>(columns));
  if (taken->release != nullptr) add_batch(input, std::move(taken));
  rename(input, options.names);
  return TableReader(schema, input, options).read();
}

}  // namespace tradingdata
