// The Arrow export: values, sharing, lifetimes and schemas.
#include "export/arrow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "table/row_values.hpp"
#include "table/table.hpp"

using namespace tradingdata;

namespace {

constexpr std::array sample_fields{
    Field{"label", Kind::text, "Text"},       Field{"count", Kind::integer, "An integer"},
    Field{"price", Kind::number, "A number"}, Field{"at", Kind::timestamp, "A time"},
    Field{"day", Kind::date, "A date"},
};
constexpr Schema sample{"Sample", sample_fields};
constexpr int label = sample["label"];
constexpr int count = sample["count"];
constexpr int at = sample["at"];
constexpr int day = sample["day"];

std::string label_of(std::int64_t row) {
  return row % 3 == 0 ? "a long label, number " + std::to_string(row)
                      : "label " + std::to_string(row % 2);
}

// Every seventh row is all null; every third has long text.
TablePtr make_table(std::int64_t rows) {
  TableBuilder table(sample);
  table.reserve(rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    table.cells<TextView>(label)[row] = table.keep_text(label_of(row));
    table.cells<std::int64_t>(count)[row] = row;
    table.cells<double>(sample["price"])[row] = static_cast<double>(row) / 2;
    table.cells<std::int64_t>(at)[row] = row * 1000;
    table.cells<std::int32_t>(day)[row] = static_cast<std::int32_t>(row);
    for (int field = 0; row % 7 == 6 && field < sample.width(); ++field) {
      table.set_null(field, row);
    }
  }
  table.set_rows(rows);
  return std::move(table).build();
}

ArrowExport whole(const Table& table) {
  ArrowExport wanted{.start = 0, .length = table.rows()};
  for (int i = 0; i < table.schema().width(); ++i) wanted.columns.push_back(i);
  return wanted;
}

// An exported array that releases itself.
class Array {
 public:
  Array(const TablePtr& table, const ArrowExport& wanted) { export_array(table, wanted, raw_); }
  explicit Array(ArrowArray raw) : raw_(raw) {}
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() {
    if (raw_.release != nullptr) raw_.release(&raw_);
  }
  ArrowArray* operator->() { return &raw_; }
  ArrowArray& child(std::int64_t i) { return *raw_.children[i]; }

 private:
  ArrowArray raw_{};
};

template <typename T>
bool is_released(const T& structure) {
  return structure.release == nullptr;
}

bool is_valid(const ArrowArray& array, std::int64_t row) {
  const auto* const bits = static_cast<const std::uint8_t*>(array.buffers[0]);
  const std::int64_t bit = array.offset + row;
  return bits == nullptr || (bits[bit / 8] >> (bit % 8) & 1) != 0;
}

template <typename T>
T value(const ArrowArray& array, std::int64_t row, int buffer = 1) {
  return static_cast<const T*>(array.buffers[buffer])[array.offset + row];
}

std::string view_text(const ArrowArray& array, std::int64_t row) {
  const auto* const view = static_cast<const TextView*>(array.buffers[1]) + array.offset + row;
  const auto size = static_cast<std::size_t>(view->size);
  if (view->is_inline()) return {view->inlined, size};
  const auto* const data = static_cast<const char*>(array.buffers[2 + view->place.buffer]);
  CHECK(std::memcmp(data + view->place.offset, view->place.prefix, 4) == 0);
  const auto* const sizes = static_cast<const std::int64_t*>(array.buffers[array.n_buffers - 1]);
  CHECK(view->place.offset + view->size <= sizes[view->place.buffer]);
  return {data + view->place.offset, size};
}

void check_rows(ArrowArray& batch, std::int64_t start, std::int64_t length) {
  CHECK(batch.length == length);
  std::int64_t nulls = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t row = start + i;
    const bool valid = row % 7 != 6;
    if (!valid) ++nulls;
    for (int field = 0; field < sample.width(); ++field) {
      CHECK(is_valid(*batch.children[field], i) == valid);
    }
    if (!valid) continue;
    CHECK(view_text(*batch.children[label], i) == label_of(row));
    CHECK(value<std::int64_t>(*batch.children[count], i) == row);
    CHECK(value<double>(*batch.children[2], i) == static_cast<double>(row) / 2);
    CHECK(value<std::int64_t>(*batch.children[at], i) == row * 1000);
    CHECK(value<std::int32_t>(*batch.children[day], i) == row);
  }
  for (int field = 0; field < sample.width(); ++field) {
    // -1: to be counted by the consumer.
    const std::int64_t given = batch.children[field]->null_count;
    CHECK((given == nulls || (given == -1 && length < 150)));
  }
}

}  // namespace

TEST_CASE("a complete table is exported without a copy") {
  const auto table = make_table(1000);
  Array array(table, whole(*table));
  check_rows(*array.operator->(), 0, 1000);
  for (int field = 0; field < sample.width(); ++field) {
    CHECK(array.child(field).buffers[1] == table->column(field).values);
    CHECK(array.child(field).buffers[0] == table->column(field).validity);
  }
  CHECK(array.child(label).buffers[2] == table->buffers()[0].data());
}

TEST_CASE("every slice has its own rows and nulls") {
  const auto table = make_table(150);
  for (std::int64_t start = 0; start <= 150; start += start < 20 ? 1 : 13) {
    for (const std::int64_t length : {0, 1, 7, 8, 63, 64, 65, 100, 150}) {
      if (start + length > 150) continue;
      ArrowExport wanted = whole(*table);
      wanted.start = start;
      wanted.length = length;
      Array array(table, wanted);
      check_rows(*array.operator->(), start, length);
    }
  }
}

TEST_CASE("a frame outlives its table's other owners, and a child outlives its batch") {
  auto table = make_table(100);
  const std::weak_ptr<const Table> watch = table;
  auto array = std::make_unique<Array>(table, whole(*table));
  table.reset();
  CHECK(!watch.expired());
  ArrowArray moved = array->child(label);
  array->child(label).release = nullptr;
  array.reset();
  CHECK(!watch.expired());
  CHECK(view_text(moved, 99) == label_of(99));
  moved.release(&moved);
  CHECK(is_released(moved));
  CHECK(watch.expired());
}

TEST_CASE("text in other forms is copied, and does not need its table") {
  for (const TextForm form : {TextForm::small, TextForm::large}) {
    auto table = make_table(150);
    const std::weak_ptr<const Table> watch = table;
    Array array(table, {.start = 67, .length = 50, .columns = {label}, .text = form});
    table.reset();
    CHECK(watch.expired());
    const ArrowArray& texts = array.child(0);
    for (std::int64_t row = 0; row < 50; ++row) {
      const bool is_small = form == TextForm::small;
      const std::int64_t begin =
          is_small ? value<std::int32_t>(texts, row) : value<std::int64_t>(texts, row);
      const std::int64_t end =
          is_small ? value<std::int32_t>(texts, row + 1) : value<std::int64_t>(texts, row + 1);
      const std::string_view all(static_cast<const char*>(texts.buffers[2]),
                                 static_cast<std::size_t>(end));
      const std::int64_t of = 67 + row;
      CHECK(is_valid(texts, row) == (of % 7 != 6));
      CHECK(all.substr(static_cast<std::size_t>(begin)) == (of % 7 == 6 ? "" : label_of(of)));
    }
  }
}

TEST_CASE("an empty table has every column, and no missing buffer") {
  const TablePtr table = std::make_shared<Table>(sample);
  for (const TextForm form : {TextForm::view, TextForm::small, TextForm::large}) {
    ArrowExport wanted = whole(*table);
    wanted.text = form;
    Array array(table, wanted);
    REQUIRE(array->n_children == sample.width());
    for (std::int64_t i = 0; i < array->n_children; ++i) {
      CHECK(array.child(i).length == 0);
      for (std::int64_t b = 1; b < array.child(i).n_buffers; ++b) {
        CHECK(array.child(i).buffers[b] != nullptr);
      }
    }
  }
}
