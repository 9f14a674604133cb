// Fills the cells of a field from a column of another library. Converts values where nothing is
// lost, as the decoder does with JSON; what does not fit is null and an issue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decode/arrow_input.hpp"
#include "decode/json.hpp"
#include "table/table.hpp"

namespace tradingdata::detail {

// A part of a column, which goes to the rows of a field from `first` on, which must be reserved.
struct ArrowPart {
  const ArrayReader& values;
  std::int64_t first;
  bool mask;  // the texts, which are personal
};

// A time that is text with an offset from UTC, in minutes.
struct TextOffset {
  int offset;
  int field;
  std::int64_t row;
  std::string raw;
};

// Throws UnsupportedColumn for a column of a type that its field cannot take.
void check_takes(const Field& field, const WireType& type);

void fill_from_arrow(TableBuilder& table, int field, const ArrowPart& part,
                     std::vector<TextOffset>& offsets);

// Fills a cell that is null with a JSON value, whose personal text is masked.
void fill_from_json(TableBuilder& table, int field, std::int64_t row, const Literal& value,
                    std::vector<TextOffset>& offsets);

// Must be called once the table has all of its rows.
void settle_text_offsets(TableBuilder& table, const std::vector<TextOffset>& offsets);

}  // namespace tradingdata::detail
