// Exports a table to other libraries over the Arrow C data interface, sharing columns where it can.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/arrow_interface.hpp"
#include "base/time.hpp"
#include "table/table.hpp"

namespace tradingdata {

// The form of exported text columns. Only `view` needs no copy.
enum class TextForm : std::uint8_t {
  view,   // "vu": 16-byte views; long text stays where it is
  small,  // "u": 32-bit offsets
  large,  // "U": 64-bit offsets
};

struct ArrowExport {
  std::int64_t start = 0;  // rows [start, start + length)
  std::int64_t length = 0;
  std::vector<int> columns{};  // positions of fields
  TextForm text = TextForm::view;
  // Times become wall clock times ("tsu:"), or with a zone the instants that its `offset` gives.
  std::string time_zone{};
  ZoneOffset offset{};
};

// One struct array of the rows. It shares the table, and keeps it alive, but for text in other
// forms and for times in a zone.
void export_array(const TablePtr& table, const ArrowExport& wanted, ArrowArray& out);

// A stream of that one batch, whose schema has metadata that names the record. All work is done
// here, so that its callbacks cannot fail.
void export_stream(const TablePtr& table, const ArrowExport& wanted, ArrowArrayStream& out);

}  // namespace tradingdata
