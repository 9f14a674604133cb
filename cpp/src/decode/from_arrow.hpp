// Makes a table of what another library passes over the Arrow C interface: an archive, a Parquet
// file, a data frame. Everything is copied, and the producer's memory is released.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "base/arrow_interface.hpp"
#include "base/time.hpp"
#include "table/table.hpp"

namespace tradingdata {

// A column of a type that cannot be read, or that its field does not take.
struct UnsupportedColumn : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// A time is the second of two that the clock of its zone shows alike, when summer time ends.
struct SecondOfTwo : std::exception {};

// The offsets of a zone: of instants, in UTC, which throws SecondOfTwo; and of times on its clock.
struct ZoneOffsets {
  const ZoneOffset& of_instants;
  const ZoneOffset& of_clock;
};

struct ArrowTable {
  TableBuilder table;
  // The zone whose clock the times are on, or "". It is UTC where the clock of the data's zone
  // shows two of the times alike.
  std::string time_zone;
};

struct ArrowOptions {
  bool keep_personal_data = false;
  // Fields, by the names that columns have in the data.
  std::map<std::string, std::string> names = {};
  // A JSON object, or "": values that fields have in every row. No column may have such a field.
  std::string constants = {};
  // Whether a field that no column has is missing, which is an issue; or else merely absent.
  bool is_complete = true;
  // The offsets of a zone that the data names. It is called once.
  std::function<ZoneOffsets(const std::string& zone)> offsets_of = {};
};

// Reads all batches of a stream, which it takes over. Columns are found by name: one that is
// missing is null throughout, and an issue unless its field is optional; an unknown one becomes an
// unknown field of each row. A value means what it would mean in a response. Personal fields are
// masked unless `keep_personal_data`. Throws std::invalid_argument where the data is malformed or
// the producer fails, and its subclass UnsupportedColumn for a column of a type that its field
// cannot take.
ArrowTable table_from_arrow(const Schema& schema, ArrowArrayStream& stream,
                            const ArrowOptions& options);

// The same of one batch.
ArrowTable table_from_arrow(const Schema& schema, ArrowSchema& columns, ArrowArray& batch,
                            const ArrowOptions& options);

}  // namespace tradingdata
