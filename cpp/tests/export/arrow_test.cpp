// The Arrow export: values, sharing, lifetimes and schemas.
#include "export/arrow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>

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

// Every seventh row is all null; every third has long text; rows 5 and 6 have an unknown field.
TableBuilder fill_table(std::int64_t rows, std::int64_t other_text = 0) {
  TableBuilder table(sample);
  if (other_text > 0) {
    table.hold_body(Buffer(std::string(static_cast<std::size_t>(other_text), '.')));
  }
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
  for (const std::int64_t row : {5, 6}) {
    if (row >= rows) continue;
    const std::string json = "{\"row\": " + std::to_string(row) + ", \"more\": true}";
    const auto [buffer, offset] = table.keep_bytes(json);
    table.extras().push_back({.row = row,
                              .name = table.extra_name("unknown"),
                              .buffer = buffer,
                              .offset = offset,
                              .size = static_cast<std::int32_t>(json.size())});
  }
  table.set_rows(rows);
  return table;
}

TablePtr make_table(std::int64_t rows, std::int64_t other_text = 0) {
  return fill_table(rows, other_text).build();
}

ArrowExport whole(const Table& table, bool extra = false) {
  return {.start = 0, .length = table.rows(), .columns = arrow_columns(table, extra)};
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
  return bits == nullptr || (bits[row / 8] >> (row % 8) & 1) != 0;
}

template <typename T>
T value(const ArrowArray& array, std::int64_t row, int buffer = 1) {
  return static_cast<const T*>(array.buffers[buffer])[row];
}

std::string view_text(const ArrowArray& array, std::int64_t row) {
  const auto* const view = static_cast<const TextView*>(array.buffers[1]) + row;
  const auto size = static_cast<std::size_t>(view->size);
  if (view->is_inline()) return {view->inlined, size};
  const auto* const data = static_cast<const char*>(array.buffers[2 + view->place.buffer]);
  CHECK(std::memcmp(data + view->place.offset, view->place.prefix, 4) == 0);
  const auto* const sizes = static_cast<const std::int64_t*>(array.buffers[array.n_buffers - 1]);
  CHECK(view->place.offset + view->size <= sizes[view->place.buffer]);
  return {data + view->place.offset, size};
}

template <typename Offset>
std::string offset_text(const ArrowArray& array, std::int64_t row) {
  const auto* const data = static_cast<const char*>(array.buffers[2]);
  return {data + value<Offset>(array, row), data + value<Offset>(array, row + 1)};
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
    CHECK(batch.children[field]->null_count == nulls);
    CHECK((batch.children[field]->buffers[0] == nullptr) == (nulls == 0));
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

TEST_CASE("a small part of a table does not keep it alive") {
  auto table = make_table(1000);
  const std::weak_ptr<const Table> watch = table;
  ArrowExport wanted = whole(*table, true);
  wanted.start = 2;
  wanted.length = 100;
  Array array(table, wanted);
  table.reset();
  CHECK(watch.expired());
  check_rows(*array.operator->(), 2, 100);
  CHECK(view_text(array.child(sample.width()), 3) == R"({"row": 5, "more": true})");
}

TEST_CASE("few columns do not keep a large body alive") {
  auto table = make_table(100, 1 << 20);
  const std::weak_ptr<const Table> watch = table;
  Array array(table, whole(*table));
  table.reset();
  CHECK(watch.expired());
  check_rows(*array.operator->(), 0, 100);
}

TEST_CASE("unknown fields leave as nullable text, behind the fields") {
  const auto table = make_table(10);
  Array array(table, whole(*table, true));
  REQUIRE(array->n_children == sample.width() + 1);
  const ArrowArray& unknown = array.child(sample.width());
  CHECK(unknown.null_count == 8);
  for (std::int64_t row = 0; row < 10; ++row) {
    CHECK(is_valid(unknown, row) == (row == 5 || row == 6));
  }
  CHECK(view_text(unknown, 6) == R"({"row": 6, "more": true})");
}

TEST_CASE("text is exported with offsets on request") {
  const auto table = make_table(50);
  const ArrowExport wanted{
      .start = 3, .length = 40, .columns = {{label, TextForm::small}, {label, TextForm::large}}};
  Array array(table, wanted);
  for (std::int64_t i = 0; i < 40; ++i) {
    const std::string expected = (i + 3) % 7 == 6 ? "" : label_of(i + 3);
    CHECK(offset_text<std::int32_t>(array.child(0), i) == expected);
    CHECK(offset_text<std::int64_t>(array.child(1), i) == expected);
    CHECK(is_valid(array.child(1), i) == ((i + 3) % 7 != 6));
  }
}

TEST_CASE("what is copied does not need its table") {
  for (const TextForm form : {TextForm::small, TextForm::large, TextForm::category}) {
    auto table = make_table(50);
    const std::weak_ptr<const Table> watch = table;
    Array array(table, {.length = 50, .columns = {{label, form}}});
    table.reset();
    CHECK(watch.expired());
    CHECK(array.child(0).null_count == 7);
    for (std::int64_t row = 0; row < 50; ++row) {
      CHECK(is_valid(array.child(0), row) == (row % 7 != 6));
    }
  }
}

TEST_CASE("unknown fields leave with offsets too, and without their table") {
  auto table = make_table(10);
  Array array(table, {.length = 10, .columns = {{sample.width(), TextForm::small}}});
  table.reset();
  CHECK(offset_text<std::int32_t>(array.child(0), 6) == R"({"row": 6, "more": true})");
  CHECK(is_valid(array.child(0), 5));
  CHECK(!is_valid(array.child(0), 4));
}

TEST_CASE("categories are sorted and distinct") {
  const auto table = make_table(50);
  const Categories categories = categories_of(*table, label, 0, 50);
  CHECK(std::is_sorted(categories.values.begin(), categories.values.end()));
  CHECK(categories.values.front() == label_of(0));
  CHECK(categories.values.back() == "label 1");
  CHECK(categories.codes[6] == -1);

  Array array(table, {.start = 0, .length = 50, .columns = {{label, TextForm::category}}});
  const ArrowArray& codes = array.child(0);
  REQUIRE(codes.dictionary != nullptr);
  CHECK(codes.dictionary->length == static_cast<std::int64_t>(categories.values.size()));
  for (std::int64_t row = 0; row < 50; ++row) {
    if (!is_valid(codes, row)) continue;
    CHECK(offset_text<std::int32_t>(*codes.dictionary, value<std::int32_t>(codes, row)) ==
          label_of(row));
  }
}

TEST_CASE("times leave as instants where there is a zone") {
  const auto table = make_table(20);
  const ArrowExport wanted{.start = 0,
                           .length = 20,
                           .columns = {{at}},
                           .time_zone = "Asia/Kolkata",
                           .to_utc = [](std::int64_t wall) { return wall - 500; }};
  Array array(table, wanted);
  CHECK(value<std::int64_t>(array.child(0), 5) == 4500);
  CHECK(!is_valid(array.child(0), 6));
  CHECK(table->column(at).as<std::int64_t>()[5] == 5000);
}

TEST_CASE("the schema names the record and every column") {
  TableBuilder filled = fill_table(10);
  filled.extra_name(std::string("odd\0name", 8));
  const TablePtr table = std::move(filled).build();
  ArrowExport wanted = whole(*table, true);
  wanted.time_zone = "Asia/Kolkata";
  wanted.columns[0].text = TextForm::category;
  ArrowSchema schema{};
  export_schema(*table, wanted, schema);
  CHECK(std::string(schema.format) == "+s");
  const std::string_view metadata(schema.metadata, 4 + 4 + 18 + 4 + 6);
  CHECK(metadata.substr(8, 18) == "tradingdata.record");
  CHECK(metadata.substr(30) == "Sample");
  REQUIRE(schema.n_children == 7);
  const std::array<const char*, 7> names{
      "label", "count", "price", "at", "day", "unknown", "odd\xEF\xBF\xBDname"};
  const std::array<const char*, 7> formats{"i", "l", "g", "tsu:Asia/Kolkata", "tdD", "vu", "vu"};
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(std::string(schema.children[i]->name) == names[i]);
    CHECK(std::string(schema.children[i]->format) == formats[i]);
    CHECK(schema.children[i]->flags == ARROW_FLAG_NULLABLE);
  }
  REQUIRE(schema.children[0]->dictionary != nullptr);
  CHECK(std::string(schema.children[0]->dictionary->format) == "u");
  schema.release(&schema);
  CHECK(is_released(schema));
}

TEST_CASE("a stream is its schema and one batch, taken or not") {
  const auto table = make_table(30);
  for (const bool take : {true, false}) {
    ArrowArrayStream stream{};
    export_stream(table, whole(*table), stream);
    if (take) {
      ArrowSchema schema{};
      REQUIRE(stream.get_schema(&stream, &schema) == 0);
      CHECK(schema.n_children == sample.width());
      schema.release(&schema);
      ArrowArray batch{};
      REQUIRE(stream.get_next(&stream, &batch) == 0);
      check_rows(batch, 0, 30);
      ArrowArray end{};
      REQUIRE(stream.get_next(&stream, &end) == 0);
      CHECK(is_released(end));
      stream.release(&stream);
      check_rows(batch, 0, 30);
      batch.release(&batch);
    } else {
      stream.release(&stream);
    }
    CHECK(is_released(stream));
  }
}

TEST_CASE("an empty table has every column, and no missing buffer") {
  const TablePtr table = std::make_shared<Table>(sample);
  for (const TextForm form :
       {TextForm::view, TextForm::small, TextForm::large, TextForm::category}) {
    ArrowExport wanted = whole(*table);
    wanted.columns[0].text = form;
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
