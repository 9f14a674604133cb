// Copies and compares rows across tables, whose text views refer to different bodies.
#include "table/row_selection.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "table/row_values.hpp"
#include "table/table_builder.hpp"

namespace tradingdata {

namespace {

// Copies rows into a table that has room for them, column by column: row by row, each of 40 columns
// would be fetched again. A book may have very many unknown names, so each name of a source is
// looked up once.
class Copier {
 public:
  // `shift` fields of the result precede those of the sources.
  explicit Copier(TableBuilder& into, int shift = 0) : into_(into), shift_(shift) {}

  // Appends the rows; `row_at(i)` gives the i-th of `count`.
  template <typename RowAt>
  void copy(const Table& from, std::int64_t count, const RowAt& row_at) {
    const Schema& schema = from.schema();
    for (int field = 0; field < schema.width(); ++field) {
      switch (schema.field(field).kind) {
        case Kind::text: copy_texts(from, field, count, row_at); break;
        case Kind::date: copy_values<std::int32_t>(from, field, count, row_at); break;
        default: copy_values<std::int64_t>(from, field, count, row_at);  // bits, of a number too
      }
    }
    if (!from.extras().empty()) copy_extras(from, count, row_at);
    into_.set_masked(into_.table().masked() && from.masked());
    into_.set_rows(into_.table().rows() + count);
  }

 private:
  template <typename RowAt, typename CopyOne>
  void copy_column(const Column& column, int field, std::int64_t count, const RowAt& row_at,
                   const CopyOne& copy_one) {
    const std::int64_t first = into_.table().rows();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = row_at(i);
      if (column.valid(row)) {
        copy_one(row, first + i);
      } else {
        into_.set_null(field + shift_, first + i);
      }
    }
  }

  template <typename Stored, typename RowAt>
  void copy_values(const Table& from, int field, std::int64_t count, const RowAt& row_at) {
    const Column& column = from.column(field);
    const auto* const values = column.as<Stored>();
    auto* const copies = into_.cells<Stored>(field + shift_);
    copy_column(column, field, count, row_at,
                [&](std::int64_t row, std::int64_t place) { copies[place] = values[row]; });
  }

  template <typename RowAt>
  void copy_texts(const Table& from, int field, std::int64_t count, const RowAt& row_at) {
    const Column& column = from.column(field);
    const auto* const views = column.as<TextView>();
    auto* const copies = into_.cells<TextView>(field + shift_);
    copy_column(column, field, count, row_at, [&](std::int64_t row, std::int64_t place) {
      const TextView& view = views[row];
      copies[place] = view.is_inline() ? view : into_.keep_text(from.text(view));
    });
  }

  template <typename RowAt>
  void copy_extras(const Table& from, std::int64_t count, const RowAt& row_at) {
    if (&from != source_) renamed_.assign(from.extra_names().size(), unknown);
    source_ = &from;
    for (std::int64_t i = 0; i < count; ++i) {
      for (const Extra& extra : from.extras_of(row_at(i))) {
        copy_extra(from, extra, into_.table().rows() + i);
      }
    }
  }

  void copy_extra(const Table& from, const Extra& extra, std::int64_t place) {
    const std::string_view json = from.extra_json(extra);
    const auto [buffer, offset] = into_.keep_bytes(json);
    into_.extras().push_back(Extra{.row = place,
                                   .name = name_in_result(from, extra),
                                   .buffer = buffer,
                                   .offset = offset,
                                   .size = extra.size});
  }

  std::int32_t name_in_result(const Table& from, const Extra& extra) {
    std::int32_t& renamed = renamed_[static_cast<std::size_t>(extra.name)];
    if (renamed == unknown) renamed = into_.extra_name(from.extra_name(extra));
    return renamed;
  }

  static constexpr std::int32_t unknown = -1;

  TableBuilder& into_;
  int shift_;
  const Table* source_ = nullptr;
  std::vector<std::int32_t> renamed_;  // by the source's number of a name
};

}  // namespace

TableBuilder copy_of(const Table& table, std::span<const std::int64_t> rows) {
  TableBuilder result(table.schema());
  result.reserve(static_cast<std::int64_t>(rows.size()));
  Copier(result).copy(table, static_cast<std::int64_t>(rows.size()),
                      [&](std::int64_t i) { return rows[static_cast<std::size_t>(i)]; });
  return result;
}

TablePtr gather(const Table& table, std::span<const std::int64_t> rows) {
  return copy_of(table, rows).build();
}

TablePtr concat(std::span<const Slice> slices) {
  if (slices.empty()) throw std::invalid_argument("there is nothing to join");
  const Schema& schema = slices.front().table->schema();
  std::int64_t rows = 0;
  for (const Slice& slice : slices) {
    if (&slice.table->schema() != &schema) {
      throw std::invalid_argument("books of different records cannot be joined");
    }
    rows += slice.stop - slice.start;
  }
  TableBuilder result(schema);
  result.reserve(rows);
  Copier copier(result);
  for (const Slice& slice : slices) {
    copier.copy(*slice.table, slice.stop - slice.start,
                [&](std::int64_t i) { return slice.start + i; });
  }
  return std::move(result).build();
}

TablePtr concat_labelled(const Schema& schema, std::span<const Slice> slices,
                         std::span<const std::string> labels) {
  std::int64_t rows = 0;
  for (const Slice& slice : slices) {
    const Schema& own = slice.table->schema();
    if (&own != &slices.front().table->schema() || own.width() + 1 != schema.width()) {
      throw std::invalid_argument("books of different records cannot be joined");
    }
    rows += slice.stop - slice.start;
  }
  TableBuilder result(schema);
  result.reserve(rows);
  Copier copier(result, 1);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const Slice& slice = slices[i];
    const std::int64_t first = result.table().rows();
    copier.copy(*slice.table, slice.stop - slice.start,
                [&](std::int64_t row) { return slice.start + row; });
    auto* const views = result.cells<TextView>(0);
    std::fill(views + first, views + result.table().rows(), result.keep_text(labels[i]));
  }
  return std::move(result).build();
}

bool same_row(const Table& a, std::int64_t row_a, const Table& b, std::int64_t row_b) {
  if (&a.schema() != &b.schema()) return false;
  for (int field = 0; field < a.schema().width(); ++field) {
    if (!detail::same_value(a, row_a, b, row_b, field)) return false;
  }
  return detail::sorted_extras(a, row_a) == detail::sorted_extras(b, row_b);
}

// Field by field, a few rows at a time, so that the long text of these rows stays in the cache.
bool same_rows(const Slice& a, const Slice& b) {
  constexpr std::int64_t at_a_time = 128;
  const std::int64_t rows = a.stop - a.start;
  const Schema& schema = a.table->schema();
  if (rows != b.stop - b.start || &schema != &b.table->schema()) return false;
  for (std::int64_t done = 0; done < rows; done += at_a_time) {
    const std::int64_t end = std::min(rows, done + at_a_time);
    for (int field = 0; field < schema.width(); ++field) {
      for (std::int64_t i = done; i < end; ++i) {
        if (!detail::same_value(*a.table, a.start + i, *b.table, b.start + i, field)) return false;
      }
    }
  }
  if (a.table->extras().empty() && b.table->extras().empty()) return true;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (detail::sorted_extras(*a.table, a.start + i) !=
        detail::sorted_extras(*b.table, b.start + i)) {
      return false;
    }
  }
  return true;
}

}  // namespace tradingdata
