// Makes a table of what another library passes over the Arrow C interface: an archive, a Parquet
// file, a data frame. Everything is copied, and the producer's memory is released.
#pragma once

#include <cstdint>
#include <map>
#include <set>
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

struct ArrowTable {
  TableBuilder table;
  // The zone that the times are in, or "". They are instants (UTC) until `to_wall_clock`.
  std::string time_zone;
};

struct ArrowOptions {
  bool keep_personal_data = false;
  // Fields, by the names that columns have in the data.
  std::map<std::string, std::string> names = {};
  // Fields that no column may have, as the caller knows their value.
  std::set<std::string> constants = {};
  // Whether a field that no column has is missing, which is an issue; or else merely absent.
  bool is_complete = true;
};

// Reads all batches of a stream, which it takes over. Columns are found by name: one that is
// missing is null throughout, and an issue unless its field is optional; an unknown one becomes an
// unknown field of each row. Personal fields are masked unless `keep_personal_data`. Throws
// std::invalid_argument where the data is malformed or the producer fails, and its subclass
// UnsupportedColumn for a column of a type that its field cannot take.
ArrowTable table_from_arrow(const Schema& schema, ArrowArrayStream& stream,
                            const ArrowOptions& options);

// The same of one batch.
ArrowTable table_from_arrow(const Schema& schema, ArrowSchema& columns, ArrowArray& batch,
                            const ArrowOptions& options);

// Converts the times of a table from instants to wall clock times; `offset` is that of an instant.
void to_wall_clock(TableBuilder& table, const ZoneOffset& offset);

}  // namespace tradingdata
