// Exports a table to other libraries over the Arrow C data interface, sharing columns where it can.
#pragma once

#include <cstdint>
#include <string>

#include "base/arrow_interface.hpp"
#include "table/table.hpp"

namespace tradingdata {

// The form of exported text columns. Only `view` needs no copy.
enum class TextForm : std::uint8_t {
  view,   // "vu": 16-byte views; long text stays where it is
  small,  // "u": 32-bit offsets
  large,  // "U": 64-bit offsets
};

struct ArrowForm {
  TextForm text = TextForm::view;
  // Times become wall clock times ("tsu:"), or with a zone the instants that the rows' `offset`
  // gives.
  std::string time_zone{};
};

// A stream of one batch of the rows, whose schema has metadata that names the record. It shares the
// table, and keeps it alive, but for text in other forms and for times in a zone. All work is done
// here, so that its callbacks cannot fail.
void export_stream(const Rows& rows, const ArrowForm& form, ArrowArrayStream& out);

}  // namespace tradingdata
