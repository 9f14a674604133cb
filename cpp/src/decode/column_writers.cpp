// The slow path of the column writers: values in another form than the documented one, which may
// convert, become null with an issue, or be rejected.
#include "decode/column_writers.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "decode/redact.hpp"

namespace tradingdata::detail {

namespace {

std::string_view between(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

// A number sent as itself or as text.
struct SentNumber {
  explicit SentNumber(const Literal& literal) : quoted(literal.type == Literal::Type::text) {
    if (!quoted && literal.type != Literal::Type::number) return;
    // A copy: the scan needs a terminator that is not part of a number.
    digits = trimmed(literal.text, " ");
    scan = scan_number(digits.c_str());
    sound = scan.end == digits.c_str() + digits.size();
  }

  bool quoted;
  bool sound = false;
  std::string digits;
  NumberScan scan;
};

}  // namespace

ColumnWriters::ColumnWriters(const Document& body, TableBuilder& table, IssueLog& issues,
                             PanMask& mask, int depth)
    : body_(body), table_(table), issues_(issues), mask_(mask), depth_(depth) {
  for (const Field& field : table.table().schema().fields) {
    const int position = static_cast<int>(sinks_.size());
    sinks_.push_back(Sink{.values = nullptr,
                          .field = position,
                          .kind = field.kind,
                          .masked = field.personal() && mask.active(),
                          .memo = {}});
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
  const Sink& sink = sinks_[static_cast<std::size_t>(field)];
  mask_.hide_in_field(sink.masked, literal.from, literal.to);
  switch (sink.kind) {
    case Kind::text: slow_text(field, row, literal); break;
    case Kind::integer: slow_integer(field, row, literal); break;
    case Kind::number: slow_number(field, row, literal); break;
    case Kind::timestamp: slow_timestamp(field, row, literal); break;
    case Kind::date: slow_date(field, row, literal); break;
  }
  return literal.to;
}

void ColumnWriters::slow_text(int field, std::int64_t row, const Literal& literal) {
  switch (literal.type) {
    case Literal::Type::text:
      if (literal.damaged) return no_value(field, row, literal, Problem::lone_surrogate);
      store(field, row,
            literal.escaped ? table_.keep_text(literal.text)
                            : view_of_body(literal.from + 1, literal.to - 1));
      break;
    case Literal::Type::number:
      // The digits in the body are masked, and stay digits; a copy masks its text again.
      store(field, row,
            sinks_[static_cast<std::size_t>(field)].masked
                ? table_.keep_text(masked(between(literal.from, literal.to)))
                : view_of_body(literal.from, literal.to));
      note(field, Problem::text_as_number, row, literal);
      break;
    default: no_value(field, row, literal, Problem::not_text);
  }
}

void ColumnWriters::slow_integer(int field, std::int64_t row, const Literal& literal) {
  const SentNumber number(literal);
  if (!number.sound) return no_value(field, row, literal, Problem::not_integer);
  const auto value = integer_of(number.scan);
  if (!value) {
    const bool whole = number.scan.exponent >= 0;  // as far as the digits show
    return no_value(field, row, literal, whole ? Problem::out_of_range : Problem::not_integer);
  }
  store(field, row, *value);
  if (number.quoted) note(field, Problem::number_as_text, row, literal);
  if (!number.scan.integral) note(field, Problem::integer_as_fraction, row, literal);
}

void ColumnWriters::slow_number(int field, std::int64_t row, const Literal& literal) {
  const SentNumber number(literal);
  if (!number.sound) return no_value(field, row, literal, Problem::not_number);
  double value = 0;
  switch (double_of(number.scan, number.digits, value)) {
    case NumberFit::exact: store(field, row, value); break;
    case NumberFit::out_of_range: return no_value(field, row, literal, Problem::out_of_range);
    case NumberFit::would_round: return no_value(field, row, literal, Problem::would_round);
  }
  if (number.quoted) note(field, Problem::number_as_text, row, literal);
}

void ColumnWriters::slow_timestamp(int field, std::int64_t row, const Literal& literal) {
  Timestamp time;
  const TimeFit fit = literal.type == Literal::Type::text ? parse_timestamp(literal.text, time)
                                                          : TimeFit::unreadable;
  if (fit == TimeFit::zero) return table_.set_null(field, row);
  if (fit == TimeFit::unreadable) return no_value(field, row, literal, Problem::not_time);
  store(field, row, time.micros);
  if (time.cut) note(field, Problem::time_cut, row, literal);
  if (time.offset) {
    offset_times_.push_back(
        {*time.offset, field, row, body_.offset_of(literal.from), body_.offset_of(literal.to)});
  } else if (fit == TimeFit::other_form && !time.cut) {
    note(field, Problem::time_in_other_form, row, literal);
  }
}

// A column holds clock times, which can be compared only if they are of one clock: the most
// frequent offset is dropped, and a time with another offset is lost. Where a column also has times
// without an offset, the fewer of the two are lost.
void ColumnWriters::settle_offsets() {
  std::map<int, std::int64_t> counts;
  std::map<int, std::vector<const OffsetTime*>> columns;
  for (const OffsetTime& time : offset_times_) {
    ++counts[time.offset];
    columns[time.field].push_back(&time);
  }
  std::set<int> without;  // columns whose times with an offset are lost
  for (const auto& [field, times] : columns) {
    if (lose_naive(field, times)) without.insert(field);
  }
  const auto rarer = [&](const OffsetTime& a, const OffsetTime& b) {
    return counts[a.offset] < counts[b.offset];
  };
  const auto usual = std::max_element(offset_times_.begin(), offset_times_.end(), rarer);
  for (const OffsetTime& time : offset_times_) {
    const bool differs = time.offset != usual->offset || without.contains(time.field);
    if (differs) table_.set_null(time.field, time.row);
    const char* const from = body_.begin() + time.from;
    issues_.note(time.field, differs ? Problem::offset_differs : Problem::offset_dropped, time.row,
                 from, between(from, body_.begin() + time.to));
  }
}

// Removes the times without an offset from a column that has more times with one. Returns whether
// it is those with one that must go. `times` are in the order of their rows.
bool ColumnWriters::lose_naive(int field, const std::vector<const OffsetTime*>& times) {
  const Table& table = table_.table();
  std::vector<std::int64_t> naive;
  auto next = times.begin();
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const bool sent_with_one = next != times.end() && (*next)->row == row;
    if (sent_with_one) ++next;
    if (!sent_with_one && table.valid(field, row)) naive.push_back(row);
  }
  if (naive.size() >= times.size()) return !naive.empty();
  const char* const conflict = body_.begin() + times.front()->from;
  for (const std::int64_t row : naive) {
    const std::string text = format_timestamp(table_.cells<std::int64_t>(field)[row]);
    table_.set_null(field, row);
    issues_.note(field, Problem::offset_differs, row, conflict, '"' + text + '"');
  }
  return false;
}

void ColumnWriters::slow_date(int field, std::int64_t row, const Literal& literal) {
  std::int32_t days = 0;
  const TimeFit fit =
      literal.type == Literal::Type::text ? parse_date(literal.text, days) : TimeFit::unreadable;
  switch (fit) {
    case TimeFit::other_form: note(field, Problem::date_with_time, row, literal); [[fallthrough]];
    case TimeFit::documented: return store(field, row, days);
    case TimeFit::zero: return table_.set_null(field, row);
    case TimeFit::unreadable: return no_value(field, row, literal, Problem::not_date);
  }
}

void ColumnWriters::no_value(int field, std::int64_t row, const Literal& literal, Problem problem) {
  table_.set_null(field, row);
  if (literal.type == Literal::Type::null) return;
  const bool empty = literal.type == Literal::Type::text && literal.text.empty();
  note(field, empty ? Problem::empty_text : problem, row, literal);
}

void ColumnWriters::missing(int field, std::int64_t row, const char* record_end) {
  table_.set_null(field, row);
  if (table_.table().schema().field(field).optional()) return;
  issues_.note(field, Problem::missing, row, record_end, {});
}

void ColumnWriters::note(int field, Problem problem, std::int64_t row, const Literal& literal) {
  issues_.note(field, problem, row, literal.from, literal.raw());
}

}  // namespace tradingdata::detail
