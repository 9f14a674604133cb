#include "cells.hpp"

#include <algorithm>

namespace tradingdata::detail {

namespace {

constexpr std::size_t most_raw = 64;  // bytes of a value shown in an issue

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string quoted(const std::string& text) {
  std::string result("\"");
  result += text;
  result += '"';
  return result;
}

// Cut to the cap, never inside a character.
std::string capped(std::string_view raw) {
  if (raw.size() <= most_raw) return std::string(raw);
  std::size_t size = most_raw;
  while (size > 0 && (static_cast<unsigned char>(raw[size]) & 0xC0) == 0x80) --size;
  return std::string(raw.substr(0, size)) + "...";
}

}  // namespace

struct Cells::Literal {
  enum class Type : std::uint8_t { null, text, number, other };
  Type type;
  const char* from;          // the whole value, quotes included
  const char* to = nullptr;
  std::string_view text{};   // unescaped, or the number's digits
  bool escaped = false;
  bool damaged = false;   // a lone surrogate in it

  std::string_view raw() const { return {from, static_cast<std::size_t>(to - from)}; }
};

Cells::Cells(Cursor& cursor, Table& table, const DecodeOptions& options)
    : cursor_(cursor), table_(table), options_(options) {
  for (const Field& field : table.schema().fields) {
    kinds_.push_back(field.kind);
    personal_.push_back(field.personal && !options.keep_personal_data);
  }
  memos_.resize(kinds_.size());
}

std::string_view Cells::unescaped(const char* from, const char* to, bool& damaged) {
  scratch_.resize(static_cast<std::size_t>(to - from));
  scratch_.resize(static_cast<std::size_t>(unescape(from, to, scratch_.data(), damaged)));
  return scratch_;
}

Cells::Literal Cells::read_literal() {
  Literal literal{.type = Literal::Type::other, .from = cursor_.at};
  const char first = *cursor_.at;
  if (first == '"') {
    literal.type = Literal::Type::text;
    literal.escaped = cursor_.skip_string();
    const char* const from = literal.from + 1;
    const char* const to = cursor_.at - 1;
    literal.text = literal.escaped ? unescaped(from, to, literal.damaged)
                                   : std::string_view(from, static_cast<std::size_t>(to - from));
  } else if (first == '-' || is_digit(first)) {
    literal.type = Literal::Type::number;
    cursor_.skip_number();
    literal.text = {literal.from, static_cast<std::size_t>(cursor_.at - literal.from)};
  } else {
    constexpr int enclosing = 3;  // the envelope, its array and the record
    if (first == 'n') literal.type = Literal::Type::null;
    cursor_.skip_value(enclosing);
  }
  literal.to = cursor_.at;
  return literal;
}

void Cells::slow_text(int field, std::int64_t row) {
  if (personal_[static_cast<std::size_t>(field)]) return personal_text(field, row);
  const Literal literal = read_literal();
  if (literal.type == Literal::Type::number) {
    store(field, row, view_of_body(literal.from, literal.to));
    return note(field, Problem::text_as_number, row, literal);
  }
  if (literal.type != Literal::Type::text) {
    return no_value(field, row, literal, Problem::not_text);
  }
  store(field, row,
        literal.escaped ? table_.keep_text(literal.text)
                        : view_of_body(literal.from + 1, literal.to - 1));
  if (literal.damaged) note(field, Problem::lone_surrogate, row, literal);
}

// Masks the value in the column and, by as many bytes, in the body.
void Cells::personal_text(int field, std::int64_t row) {
  const Literal literal = read_literal();
  if (literal.type == Literal::Type::text) {
    const std::string hidden = masked(literal.text);
    overwrite(literal, quoted(hidden));
    store(field, row, table_.keep_text(hidden));
    if (literal.damaged) note(field, Problem::lone_surrogate, row, literal);
  } else if (literal.type == Literal::Type::number && literal.to - literal.from > 2) {
    const std::string hidden(static_cast<std::size_t>(literal.to - literal.from - 2), 'X');
    overwrite(literal, quoted(hidden));
    store(field, row, table_.keep_text(hidden));
    note(field, Problem::text_as_number, row, literal);
  } else {
    const bool room = literal.to - literal.from >= 4;
    no_value(field, row, literal, Problem::not_text);
    if (room) {
      overwrite(literal, "null");
    } else if (literal.type == Literal::Type::number) {
      overwrite(literal, "0");
    }
  }
}

// Writes over a value in the body; blanks fill what is left of its place.
void Cells::overwrite(const Literal& literal, std::string_view with) {
  char* place = table_.buffers.front().data() + cursor_.offset_of(literal.from);
  for (std::size_t i = 0; i < literal.raw().size(); ++i) *place++ = i < with.size() ? with[i] : ' ';
}

// A number that stands in quotes; the scan needs an end that is no part of one.
NumberScan Cells::scan_inside_text(std::string_view text) {
  scratch_.assign(text);
  NumberScan scan = scan_number(scratch_.c_str());
  if (scan.end != scratch_.c_str() + scratch_.size()) scan.end = nullptr;
  return scan;
}

void Cells::slow_integer(int field, std::int64_t row) {
  const Literal literal = read_literal();
  const bool quoted = literal.type == Literal::Type::text;
  if (!quoted && literal.type != Literal::Type::number) {
    return no_value(field, row, literal, Problem::not_integer);
  }
  const std::string digits(trimmed(literal.text));
  const NumberScan scan = scan_inside_text(digits);
  if (scan.end == nullptr) return no_value(field, row, literal, Problem::not_integer);
  const auto value = integer_of(scan, digits);
  if (!value) {
    const bool beyond = scan.integral;
    return no_value(field, row, literal, beyond ? Problem::out_of_range : Problem::not_integer);
  }
  store(field, row, *value);
  if (quoted) note(field, Problem::number_as_text, row, literal);
  if (!scan.integral) note(field, Problem::integer_as_fraction, row, literal);
}

void Cells::slow_number(int field, std::int64_t row) {
  const Literal literal = read_literal();
  const bool quoted = literal.type == Literal::Type::text;
  if (!quoted && literal.type != Literal::Type::number) {
    return no_value(field, row, literal, Problem::not_number);
  }
  const std::string digits(trimmed(literal.text));
  const NumberScan scan = scan_inside_text(digits);
  if (scan.end == nullptr) return no_value(field, row, literal, Problem::not_number);
  double value = 0;
  switch (double_of(scan, digits, value)) {
    case NumberFit::exact: store(field, row, value); break;
    case NumberFit::out_of_range: return no_value(field, row, literal, Problem::out_of_range);
    case NumberFit::would_round: return no_value(field, row, literal, Problem::would_round);
  }
  if (quoted) note(field, Problem::number_as_text, row, literal);
}

void Cells::slow_timestamp(int field, std::int64_t row) {
  const Literal literal = read_literal();
  std::int64_t micros = 0;
  const TimeFit fit = literal.type == Literal::Type::text ? parse_timestamp(literal.text, micros)
                                                          : TimeFit::unreadable;
  switch (fit) {
    case TimeFit::documented:
    case TimeFit::other_form: {
      store(field, row, micros);
      if (fit == TimeFit::other_form) note(field, Problem::time_in_other_form, row, literal);
      std::int32_t days = 0;
      if (!literal.escaped && parse_date(literal.text.substr(0, 10), days) == TimeFit::documented) {
        memo_of(field).keep(literal.from, days, false);
      }
      return;
    }
    case TimeFit::zero: return table_.set_null(field, row);
    case TimeFit::unreadable: return no_value(field, row, literal, Problem::not_time);
  }
}

void Cells::slow_date(int field, std::int64_t row) {
  const Literal literal = read_literal();
  std::int32_t days = 0;
  const TimeFit fit = literal.type == Literal::Type::text ? parse_date(literal.text, days)
                                                          : TimeFit::unreadable;
  if (fit == TimeFit::unreadable) return no_value(field, row, literal, Problem::not_date);
  if (fit == TimeFit::zero) {
    table_.set_null(field, row);
  } else {
    store(field, row, days);
  }
  if (fit == TimeFit::other_form) note(field, Problem::date_with_time, row, literal);
  if (!literal.escaped && literal.text.size() == ClockText::date_length) {
    memo_of(field).keep(literal.from, days, fit == TimeFit::zero);
  }
}

void Cells::no_value(int field, std::int64_t row, const Literal& literal, Problem problem) {
  table_.set_null(field, row);
  if (literal.type == Literal::Type::null) return;
  const bool empty = literal.type == Literal::Type::text && literal.text.empty();
  note(field, empty ? Problem::empty_text : problem, row, literal);
}

void Cells::missing(int field, std::int64_t row) {
  table_.set_null(field, row);
  note(field_of(field).name, Problem::missing, row, {});
}

void Cells::note(int field, Problem problem, std::int64_t row, const Literal& literal) {
  const Field& noted = field_of(field);
  note(noted.name, problem, row, noted.personal ? std::string_view() : literal.raw());
}

void Cells::note(std::string_view name, Problem problem, std::int64_t row, std::string_view raw) {
  if (options_.strict && describe(problem).lost) {
    cursor_.fail(raw.empty() ? cursor_.at - 1 : raw.data(),
                 std::string(name) + " is " + std::string(describe(problem).text) + " (strict)");
  }
  auto& issues = table_.issues;
  auto found = std::find_if(issues.begin(), issues.end(), [&](const Issue& issue) {
    return issue.problem == problem && issue.field == name;
  });
  if (found == issues.end()) {
    issues.push_back(Issue{std::string(name), problem, 0, row, capped(raw)});
    found = issues.end() - 1;
  }
  ++found->count;
}

}  // namespace tradingdata::detail
