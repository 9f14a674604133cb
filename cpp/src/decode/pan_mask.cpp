// Personal fields: what is kept of them, in the column and in the body, is masked.
#include <algorithm>
#include <string>

#include "decode/column_writers.hpp"

namespace tradingdata::detail {

namespace {

// Writes over a value; blanks fill what is left of its place, so that the JSON stays sound.
void overwrite(char* place, std::size_t size, std::string_view with) {
  const std::size_t count = std::min(size, with.size());
  std::fill(std::copy_n(with.begin(), count, place), place + size, ' ');
}

std::string quoted(const std::string& text) {
  std::string result("\"");
  result += text;
  result += '"';
  return result;
}

}  // namespace

// The body is the table's own: the one place that may write to it.
char* Cells::writable(const char* place) const {
  return table_.buffers.front().data() + body_.offset_of(place);
}

const char* Cells::read_personal(const char* at, Sink& sink, std::int64_t row) {
  const char* const from = at + 1;
  if (!is_account_number(from) || from[account_number_length] != '"') return nullptr;
  TextView& cell = reinterpret_cast<TextView*>(sink.values)[row];
  store_view(&cell, from, account_number_length, 0);
  hide_account_number(cell.inlined);
  hide_account_number(writable(from));
  return from + account_number_length + 1;
}

void Cells::slow_personal(int field, std::int64_t row, const Literal& literal) {
  const std::size_t size = literal.raw().size();
  std::string hidden;
  if (literal.type == Literal::Type::text && !literal.damaged) {
    hidden = masked(literal.text);
  } else if (literal.type == Literal::Type::number && size > 2) {
    hidden = std::string(size - 2, 'X');
    note(field, Problem::text_as_number, row, literal);
  } else {
    no_value(field, row, literal, literal.damaged ? Problem::lone_surrogate : Problem::not_text);
    return overwrite(writable(literal.from), size, size < 4 ? "0" : "null");
  }
  store(field, row, table_.keep_text(hidden));
  overwrite(writable(literal.from), size, quoted(hidden));
}

}  // namespace tradingdata::detail
