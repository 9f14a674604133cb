// The slow path of the column writers: values in another form than the documented one, which may
// convert, become null with an issue, or be rejected.
#include "decode/column_writers.hpp"

#include "privacy/personal.hpp"

namespace tradingdata::detail {

namespace {

std::string_view between(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

}  // namespace

ColumnWriters::ColumnWriters(const Document& body, TableBuilder& table, IssueLog& issues,
                             PanMask& mask, int depth)
    : body_(body), table_(table), issues_(issues), mask_(mask), depth_(depth) {
  for (const Field& field : table.table().schema().fields) {
    const int position = static_cast<int>(sinks_.size());
    sinks_.push_back(Sink{.values = nullptr,
                          .field = position,
                          .kind = field.kind,
                          .masked = field.personal() && mask.active()});
  }
}

void ColumnWriters::bind() {
  begin_ = body_.begin();
  for (Sink& sink : sinks_) sink.values = table_.cells<std::byte>(sink.field);
}

TextView ColumnWriters::view_of_body(const char* from, const char* to) const {
  const std::string_view text = between(from, to);
  if (text.size() <= TextView::inline_capacity) return TextView::make_inline(text);
  return TextView::make_place(text, 0, body_.offset_of(from));
}

const char* ColumnWriters::read_long_text(const char* at, Sink& sink, std::int64_t row) {
  const StringScan scan = scan_string(at + 1);
  if (scan.end == nullptr) return nullptr;
  if (!scan.escaped) {
    sink.store(row, view_of_body(at + 1, scan.end));
    return scan.end + 1;
  }
  bool damaged = false;
  scratch_.resize(static_cast<std::size_t>(scan.end - at));
  const std::int64_t size = unescape(at + 1, scan.end, scratch_.data(), damaged);
  if (damaged) return nullptr;
  sink.store(row, table_.keep_text({scratch_.data(), static_cast<std::size_t>(size)}));
  return scan.end + 1;
}

const char* ColumnWriters::read_long_integer(const char* at, Sink& sink, std::int64_t row) {
  const NumberScan scan = scan_number(at);
  if (scan.end == nullptr || !scan.integral) return nullptr;
  const auto value = integer_of(scan);
  if (!value) return nullptr;
  sink.store(row, *value);
  return scan.end;
}

const char* ColumnWriters::read_long_number(const char* at, Sink& sink, std::int64_t row) {
  const NumberScan scan = scan_number(at);
  double value = 0;
  if (scan.end == nullptr || double_of(scan, between(at, scan.end), value) != NumberFit::exact) {
    return nullptr;
  }
  sink.store(row, value);
  return scan.end;
}

const char* ColumnWriters::read_personal(const char* at, Sink& sink, std::int64_t row) {
  const char* const from = at + 1;
  const std::size_t size = plain_length(from);
  if (from[size] == '"' && size <= TextView::inline_capacity) {
    // Masked in either place: to read back at once what was just written would stall.
    TextView& cell = reinterpret_cast<TextView*>(sink.values)[row];
    store_view(&cell, from, size, 0);
    mask(cell.inlined, size);
    PanMask::hide_text(from, from + size);
    return from + size + 1;
  }
  const StringScan scan = scan_string(from);
  if (scan.end == nullptr) return nullptr;
  PanMask::hide_text(from, scan.end);
  sink.store(row, view_of_body(from, scan.end));
  return scan.end + 1;
}

const char* ColumnWriters::read_out_of_line(const char* at, int field, std::int64_t row) {
  return read(at, field, row);
}

const char* ColumnWriters::read_slowly(const char* at, int field, std::int64_t row) {
  if (is_space(*at)) return read_out_of_line(body_.pass_space(at), field, row);
  const Literal literal = read_literal(body_, at, depth_, scratch_);
  Sink& sink = sinks_[static_cast<std::size_t>(field)];
  mask_.hide_in_field(sink.masked, literal.from, literal.to);
  const auto text_of = [&](const Literal& value) {
    if (value.type == Literal::Type::text) {
      return value.escaped ? table_.keep_text(value.text)
                           : view_of_body(value.from + 1, value.to - 1);
    }
    // The digits in the body are masked, and stay digits; a copy masks its text again.
    return sink.masked ? table_.keep_text(masked(between(value.from, value.to)))
                       : view_of_body(value.from, value.to);
  };
  const auto store = [&](const auto& cell) {
    if (!cell) return table_.set_null(field, row);
    sink.store(row, *cell);
  };
  const auto note = [&](Problem problem) {
    issues_.note(field, problem, row, literal.from, literal.raw());
  };
  if (const auto offset = convert(sink.kind, literal, text_of, store, note)) {
    offset_times_.push_back(
        {*offset, field, row, std::string(literal.raw()), body_.offset_of(literal.from)});
  }
  return literal.to;
}

void ColumnWriters::settle_offsets() {
  detail::settle_offsets(table_, offset_times_, [&](Problem problem, const OffsetTime& time) {
    issues_.note(time.field, problem, time.row, body_.begin() + time.place, time.raw);
  });
}

void ColumnWriters::missing(int field, std::int64_t row, const char* record_end) {
  table_.set_null(field, row);
  if (table_.table().schema().field(field).optional()) return;
  issues_.note(field, Problem::missing, row, record_end, {});
}

}  // namespace tradingdata::detail
