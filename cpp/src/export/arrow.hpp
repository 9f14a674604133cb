// Exports a table to other libraries over the Arrow C data interface, sharing columns where it can.
#pragma once

#include <cstdint>
#include <string>

#include "base/arrow_interface.hpp"
#include "table/table.hpp"

namespace tradingdata {

// The types of exported columns, which go by who reads them.
enum class ArrowTypes : std::uint8_t {
  shared,  // text as 16-byte views: long text stays where it is, and no column is copied
  plain,   // text with 32-bit offsets, on which more programs compute
  pandas,  // text with 64-bit offsets; days as times, since pandas has no dates
};

struct ArrowForm {
  ArrowTypes types = ArrowTypes::shared;
  // Times become wall clock times ("tsu:"), or with a zone the instants that the rows' `offset`
  // gives.
  std::string time_zone{};
};

// A stream of one batch of the rows, whose schema has metadata that names the record. It shares the
// table, and keeps it alive, but for what other types need and for times in a zone. All work is
// done here, so that its callbacks cannot fail.
void export_stream(const Rows& rows, const ArrowForm& form, ArrowArrayStream& out);

}  // namespace tradingdata
