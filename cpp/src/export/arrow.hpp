// Exports a table to other libraries over the Arrow C data interface, sharing columns where it can.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "table/table.hpp"

// The interface's structures, which Arrow's specification asks every library to copy.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

}  // extern "C"

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

extern "C" {

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"

#endif  // ARROW_C_STREAM_INTERFACE

namespace tradingdata {

// The form of an exported text column. Only `view` needs no copy.
enum class TextForm : std::uint8_t {
  view,      // "vu": 16-byte views; long text stays where it is
  small,     // "u": 32-bit offsets
  large,     // "U": 64-bit offsets
  category,  // int32 codes of the sorted distinct texts; unknown fields become views even so
};

struct ArrowColumn {
  // A field's position in the schema; unknown fields follow, as nullable text with their JSON:
  // the schema's width plus the position in Table::extra_names.
  int column;
  TextForm text = TextForm::view;
};

struct ArrowExport {
  std::int64_t start = 0;  // rows [start, start + length)
  std::int64_t length = 0;
  std::vector<ArrowColumn> columns{};
  // Times become wall clock times ("tsu:"), or with a zone the instants that `to_utc` returns.
  std::string time_zone{};
  std::function<std::int64_t(std::int64_t wall_micros)> to_utc{};
};

// Every field, followed by the unknown ones if `extra`.
std::vector<ArrowColumn> arrow_columns(const Table& table, bool extra);

// The schema of the batch: a struct with a child a column, and metadata that names the record.
void export_schema(const Table& table, const ArrowExport& wanted, ArrowSchema& out);

// One struct array of the rows. It shares the table where that is worth its memory, and copies
// what it needs where a small part would keep much more alive.
void export_array(const TablePtr& table, const ArrowExport& wanted, ArrowArray& out);

// A stream of that one batch. All work is done here, so that its callbacks cannot fail.
void export_stream(const TablePtr& table, const ArrowExport& wanted, ArrowArrayStream& out);

}  // namespace tradingdata
