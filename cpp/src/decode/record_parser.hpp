// Parses an array of records: keys are predicted, and values go straight into their columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/column_writers.hpp"
#include "decode/decode.hpp"
#include "decode/issues.hpp"
#include "decode/json.hpp"
#include "decode/key_order.hpp"
#include "decode/pan_mask.hpp"
#include "table/table.hpp"

namespace tradingdata::detail {

class RecordParser {
 public:
  // `where` is the array's JSON path, `depth` the number of values that enclose it, and `longest`
  // how many bytes the first element is expected to have at most.
  RecordParser(const Document& body, TableBuilder& table, const DecodeOptions& options,
               std::string_view where, int depth, std::int64_t longest);

  // Reads the array at `at` and returns the place after it. Throws where it is malformed, and may
  // not be called again then. Valid JSON that is not a record of the service is reported by
  // refusal(), since an error of the service itself may follow and takes precedence. Where the body
  // is still arriving, returns null before a record that may be cut short, and at the end; the next
  // call continues there.
  const char* read_array(const char* at);
  const std::optional<Error>& refusal() const { return issues_.refusal(); }

  // How many bytes of the body were read, and need not be read again.
  std::int64_t passed() const { return next_ - array_; }

  // For the other members of the body.
  PanMask& mask() { return mask_; }

  // Must be called before the first read, and when the body has moved.
  void bind() { writers_.bind(); }

 private:
  const char* read_element(const char* at);
  const char* read_record(const char* begin, std::int64_t row);
  // Reads pairs as long as their keys come in the order that was learned: nothing is looked up. The
  // inner loop; by itself, so that what it works with stays in registers.
  struct Reached {
    const char* at;
    const Step* step;  // the one to expect there
  };
  TRADINGDATA_NOINLINE Reached read_expected(Reached from, std::int64_t row);
  // The pair at `at`, whose key was not the expected one.
  const char* read_pair(const char* at, std::int64_t row, FieldSet& seen, const Step*& step);
  const char* read_extra(const char* at, std::int32_t name, std::int64_t row);
  struct UnknownField {
    bool personal;
    std::size_t latest;  // where its last value is
  };
  UnknownField& unknown_field(std::int32_t name);
  void note_missing(const char* record_end, std::int64_t row, const FieldSet& seen);
  void refuse_repeated();
  void make_room();
  std::string path_of_fault() const;

  const Document& body_;
  TableBuilder& table_;
  int depth_;  // of values enclosed by a record
  PanMask mask_;
  IssueLog issues_;
  ColumnWriters writers_;
  KeyOrder order_;
  FieldSet all_;
  std::int64_t array_ = -1;        // its offset
  std::int64_t next_ = -1;         // the offset behind what was read of it
  bool more_ = true;               // elements follow there
  const char* element_ = nullptr;  // where the one that is being read begins
  std::int64_t position_ = 0;      // its position
  std::int64_t longest_;           // bytes of the longest element so far
  std::int64_t rows_ = 0;
  std::vector<Extra>& extras_;                // of the table
  std::vector<UnknownField> unknown_fields_;  // by name
};

}  // namespace tradingdata::detail
