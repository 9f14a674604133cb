// Chooses and sorts row numbers, copies rows, and compares their values.
#include "table/rows.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/time.hpp"

namespace tradingdata {

namespace {

// Keeps the rows that meet the condition; `read` gives a row's value.
template <typename Value, typename Read>
void keep_rows(std::vector<std::int64_t>& rows, const Column& column, const Condition& condition,
               std::vector<Value> wanted, const Read& read) {
  std::ranges::sort(wanted);
  const bool one = wanted.size() == 1;
  std::erase_if(rows, [&](std::int64_t row) {
    const bool among = condition.relation == Relation::equal;
    if (!column.valid(row)) {
      return condition.null_wanted ? !among : condition.relation != Relation::not_equal;
    }
    const Value value = read(row);
    switch (condition.relation) {
      case Relation::equal:
      case Relation::not_equal: {
        const bool found =
            one ? value == wanted.front() : std::ranges::binary_search(wanted, value);
        return found != among;
      }
      case Relation::less: return !(value < wanted.front());
      case Relation::less_equal: return !(value <= wanted.front());
      case Relation::greater: return !(value > wanted.front());
      case Relation::greater_equal: return !(value >= wanted.front());
    }
    return true;
  });
}

template <typename Read>
void keep_integers(std::vector<std::int64_t>& rows, const Column& column,
                   const Condition& condition, const Read& read) {
  const auto& wanted = std::get<std::vector<std::int64_t>>(condition.wanted);
  const auto keep = [&](const auto& part) { keep_rows(rows, column, condition, wanted, part); };
  switch (condition.part) {
    case TimePart::all: return keep(read);
    case TimePart::day:
      return keep([&](std::int64_t row) -> std::int64_t { return day_of(read(row)); });
    case TimePart::clock:
      return keep([&](std::int64_t row) { return read(row) - day_of(read(row)) * micros_per_day; });
  }
}

}  // namespace

std::vector<std::int64_t> rows_of(const Slice& slice) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(slice.size()));
  std::iota(rows.begin(), rows.end(), slice.start);
  return rows;
}

std::vector<std::int64_t> rows_where(const Slice& slice, std::span<const Condition> conditions) {
  std::vector<std::int64_t> rows = rows_of(slice);
  for (const Condition& condition : conditions) {
    const Column& column = slice.table->column(condition.field);
    with_values(*slice.table, condition.field, [&](const auto& read) {
      using Value = decltype(read(0));
      if constexpr (std::is_same_v<Value, std::string_view>) {
        const auto& wanted = std::get<std::vector<std::string>>(condition.wanted);
        keep_rows(rows, column, condition, std::vector<Value>(wanted.begin(), wanted.end()), read);
      } else if constexpr (std::is_same_v<Value, double>) {
        keep_rows(rows, column, condition, std::get<std::vector<Value>>(condition.wanted), read);
      } else {
        keep_integers(rows, column, condition, read);
      }
    });
  }
  return rows;
}

namespace {

struct Run {
  std::size_t begin, end;
};

// Sorts a run of rows by a column, and appends the runs of equal values among them to `ties`. The
// values are stored beside their rows, since looking each up in its column would be slow.
template <typename Read>
void sort_run(std::vector<std::int64_t>& rows, Run run, const Column& column, bool descending,
              const Read& read, std::vector<Run>& ties) {
  struct Entry {
    decltype(read(0)) value;
    std::int64_t row;
  };
  std::vector<Entry> entries;
  std::vector<std::int64_t> without_value;
  entries.reserve(run.end - run.begin);
  for (std::size_t at = run.begin; at < run.end; ++at) {
    if (column.valid(rows[at])) {
      entries.push_back({read(rows[at]), rows[at]});
    } else {
      without_value.push_back(rows[at]);
    }
  }
  if (descending) {
    std::ranges::stable_sort(entries, std::greater<>(), &Entry::value);
  } else {
    std::ranges::stable_sort(entries, std::less<>(), &Entry::value);
  }
  std::size_t first = 0;
  for (std::size_t at = 0; at < entries.size(); ++at) {
    rows[run.begin + at] = entries[at].row;
    if (entries[at].value != entries[first].value) {
      if (at - first > 1) ties.push_back({run.begin + first, run.begin + at});
      first = at;
    }
  }
  const std::size_t end = run.begin + entries.size();
  if (end - run.begin - first > 1) ties.push_back({run.begin + first, end});
  std::ranges::copy(without_value, rows.begin() + static_cast<std::ptrdiff_t>(end));
  if (without_value.size() > 1) ties.push_back({end, run.end});
}

}  // namespace

std::vector<std::int64_t> sorted_rows(const Slice& slice, std::span<const SortKey> keys) {
  std::vector<std::int64_t> rows = rows_of(slice);
  std::vector<Run> runs{{0, rows.size()}};
  for (const SortKey& key : keys) {
    std::vector<Run> ties;
    const Column& column = slice.table->column(key.field);
    with_values(*slice.table, key.field, [&](const auto& read) {
      for (const Run& run : runs) sort_run(rows, run, column, key.descending, read, ties);
    });
    runs = std::move(ties);
  }
  return rows;
}

// Copies rows across tables, whose text views refer to different bodies.

namespace {

// Copies values of a column into `count` rows of a field from `first` on; `row_at(i)` gives the row
// of each, or -1 for no value. A date may be copied from a timestamp: its day.
template <typename RowAt>
void copy_column(TableBuilder& into, int field, std::int64_t first, const Table& from, int source,
                 std::int64_t count, const RowAt& row_at) {
  const Column& column = from.column(source);
  const Kind kind = into.table().schema().field(field).kind;
  const Kind sent = from.schema().field(source).kind;
  const bool only_day = kind == Kind::date && sent == Kind::timestamp;
  if (!only_day && kind != sent) {
    throw std::invalid_argument("a column is copied into one of its kind");
  }
  if (column.nulls == from.rows()) return into.set_nulls(field, first, count);
  with_stored(kind, [&]<typename T>(const T&) {
    T* const copies = into.cells<T>(field) + first;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = row_at(i);
      if (row < 0 || !column.valid(row)) {
        into.set_null(field, first + i);
        continue;
      }
      if constexpr (std::is_same_v<T, TextView>) {
        const TextView& view = column.as<T>()[row];
        copies[i] = view.is_inline() ? view : into.keep_text(from.text(view));
      } else if constexpr (std::is_same_v<T, std::int32_t>) {
        copies[i] = only_day ? day_of(column.as<std::int64_t>()[row]) : column.as<T>()[row];
      } else {
        copies[i] = column.as<T>()[row];
      }
    }
  });
}

// Copies rows into a table that has room for them, column by column: row by row, each of 40 columns
// would be fetched again. A book may have very many unknown names, so each name of a source is
// looked up once.
class Copier {
 public:
  explicit Copier(TableBuilder& into) : into_(into) {}

  // Appends the rows; `row_at(i)` gives the i-th of `count`.
  template <typename RowAt>
  void copy(const Table& from, std::int64_t count, const RowAt& row_at) {
    for (int field = 0; field < from.schema().width(); ++field) {
      copy_column(into_, field, into_.table().rows(), from, field, count, row_at);
    }
    if (!from.extras().empty()) copy_extras(from, count, row_at);
    into_.set_masked(into_.table().masked() && from.masked());
    into_.set_rows(into_.table().rows() + count);
  }

 private:
  template <typename RowAt>
  void copy_extras(const Table& from, std::int64_t count, const RowAt& row_at) {
    if (&from != source_) renamed_.assign(from.extra_names().size(), unknown);
    source_ = &from;
    for (std::int64_t i = 0; i < count; ++i) {
      for (const Extra& extra : from.extras_of(row_at(i))) {
        std::int32_t& name = renamed_[static_cast<std::size_t>(extra.name)];
        if (name == unknown) name = into_.extra_name(from.extra_name(extra));
        const auto [buffer, offset] = into_.keep_bytes(from.extra_json(extra));
        into_.extras().push_back(Extra{.row = into_.table().rows() + i,
                                       .name = name,
                                       .buffer = buffer,
                                       .offset = offset,
                                       .size = extra.size});
      }
    }
  }

  static constexpr std::int32_t unknown = -1;

  TableBuilder& into_;
  const Table* source_ = nullptr;
  std::vector<std::int32_t> renamed_;  // by the source's number of a name
};

}  // namespace

TableBuilder copy_of(const Table& table, std::span<const std::int64_t> rows, const Schema& schema) {
  const std::span<const Field> fields = table.schema().fields;
  if (schema.fields.size() < fields.size() ||
      !std::ranges::equal(fields, schema.fields.first(fields.size()), {}, &Field::kind,
                          &Field::kind)) {
    throw std::invalid_argument("rows are copied into a schema that begins with their fields");
  }
  TableBuilder result(schema);
  result.reserve(static_cast<std::int64_t>(rows.size()));
  Copier(result).copy(table, static_cast<std::int64_t>(rows.size()),
                      [&](std::int64_t i) { return rows[static_cast<std::size_t>(i)]; });
  return result;
}

TablePtr gather(const Table& table, std::span<const std::int64_t> rows) {
  return copy_of(table, rows, table.schema()).build();
}

void copy_cells(TableBuilder& into, int field, const Slice& from, int source,
                std::span<const std::int64_t> rows) {
  copy_column(into, field, 0, *from.table, source, std::ssize(rows), [&](std::int64_t i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)];
    return row < 0 ? row : from.start + row;
  });
}

TablePtr concat(std::span<const Slice> slices) {
  if (slices.empty()) throw std::invalid_argument("there is nothing to join");
  const Schema& schema = slices.front().table->schema();
  std::int64_t rows = 0;
  for (const Slice& slice : slices) {
    if (&slice.table->schema() != &schema) {
      throw std::invalid_argument("books of different records cannot be joined");
    }
    rows += slice.size();
  }
  TableBuilder result(schema);
  result.reserve(rows);
  Copier copier(result);
  for (const Slice& slice : slices) {
    copier.copy(*slice.table, slice.size(), [&](std::int64_t row) { return slice.start + row; });
  }
  return std::move(result).build();
}

// Compares values, and writes them as bytes.

namespace {

void append_text(std::string& bytes, std::string_view text) {
  const std::uint64_t size = text.size();  // first, so that neighbours cannot run together
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes.append(text);
}

// Whether cells hold the same values, where the same ones have none: these are zero.
bool same_cells(const Table& a, const TextView* left, const Table& b, const TextView* right,
                std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (!same_text(a, left[i], b, right[i])) return false;
  }
  return true;
}

template <typename T>
bool same_cells(const Table&, const T* left, const Table&, const T* right, std::int64_t count) {
  if constexpr (std::is_same_v<T, double>) {
    std::int64_t different = 0;  // counted to the end, which is faster than a look at each
    for (std::int64_t i = 0; i < count; ++i) different += left[i] == right[i] ? 0 : 1;
    return different == 0;
  } else {
    return std::memcmp(left, right, static_cast<std::size_t>(count) * sizeof(T)) == 0;
  }
}

// Whether `count` rows of one field from `row_a` and `row_b` on have the same values.
bool same_values(const Table& a, std::int64_t row_a, const Table& b, std::int64_t row_b,
                 std::int64_t count, int field) {
  const Column &x = a.column(field), &y = b.column(field);
  for (std::int64_t i = 0; i < count && (x.nulls > 0 || y.nulls > 0); ++i) {
    if (x.valid(row_a + i) != y.valid(row_b + i)) return false;
  }
  return with_stored(a.schema().field(field).kind, [&]<typename T>(const T&) {
    return same_cells(a, x.as<T>() + row_a, b, y.as<T>() + row_b, count);
  });
}

// Appends bytes that are equal where the values are.
void append_value(std::string& bytes, const Table& table, int field, std::int64_t row) {
  const bool valid = table.valid(field, row);
  bytes += valid ? '\1' : '\0';
  if (!valid) return;
  const Kind kind = table.schema().field(field).kind;
  if (kind == Kind::text) return append_text(bytes, table.text(field, row));
  const std::byte* value = table.column(field).values + row * width_of(kind);
  constexpr double zero = 0;
  if (kind == Kind::number && table.column(field).as<double>()[row] == zero) {
    value = reinterpret_cast<const std::byte*>(&zero);  // -0 equals 0
  }
  bytes.append(reinterpret_cast<const char*>(value), static_cast<std::size_t>(width_of(kind)));
}

// The unknown fields of a row with their JSON text, by name: the order in which they were sent is
// ignored.
std::vector<std::pair<std::string_view, std::string_view>> sorted_extras(const Table& table,
                                                                         std::int64_t row) {
  std::vector<std::pair<std::string_view, std::string_view>> extras;
  for (const Extra& extra : table.extras_of(row)) {
    extras.emplace_back(table.extra_name(extra), table.extra_json(extra));
  }
  std::sort(extras.begin(), extras.end());
  return extras;
}

// Whether both are complete responses with the same body. Their values are then the same, and so
// are unknown fields, which are pieces of it; apart from values that a mask hides there: personal
// ones, and where a token was sent, which is an issue. An unchanged poll of 10,000 trades is
// compared in 0.2 ms, where its columns take 1.2.
bool same_bodies(const Slice& a, const Slice& b) {
  const auto complete = [](const Slice& rows) {
    return rows.table->holds_body() && rows.size() == rows.table->rows() &&
           rows.table->issues().empty();
  };
  return complete(a) && complete(b) &&
         a.table->buffers().front().view() == b.table->buffers().front().view();
}

}  // namespace

void append_row(std::string& bytes, const Table& table, std::int64_t row) {
  for (int field = 0; field < table.schema().width(); ++field) {
    append_value(bytes, table, field, row);
  }
  for (const auto& [name, json] : sorted_extras(table, row)) {
    append_text(bytes, name);
    append_text(bytes, json);
  }
}

// Field by field: first of a few rows, which mostly shows a difference, then of many at a time,
// since memory is read fastest in long runs, but not of so many that their long text leaves the
// cache.
bool same_rows(const Slice& a, const Slice& b) {
  constexpr std::int64_t few = 128;
  constexpr std::int64_t many = 4096;
  const std::int64_t rows = a.size();
  const Schema& schema = a.table->schema();
  if (rows != b.size() || &schema != &b.table->schema()) return false;
  const bool same_body = same_bodies(a, b);
  for (std::int64_t done = 0, end = 0; done < rows; done = end) {
    end = std::min(rows, done + (done == 0 ? few : many));
    for (int field = 0; field < schema.width(); ++field) {
      const Field& declared = schema.field(field);
      if (same_body && !declared.personal() && !declared.local()) continue;  // an account is local
      if (!same_values(*a.table, a.start + done, *b.table, b.start + done, end - done, field)) {
        return false;
      }
    }
  }
  if (same_body || (a.table->extras().empty() && b.table->extras().empty())) return true;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (sorted_extras(*a.table, a.start + i) != sorted_extras(*b.table, b.start + i)) {
      return false;
    }
  }
  return true;
}

}  // namespace tradingdata
