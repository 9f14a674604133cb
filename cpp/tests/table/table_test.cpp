// Buffers, and tables while a builder fills them.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "table/records.hpp"
#include "table/table.hpp"

using namespace tradingdata;

namespace {

bool is_padded(const Buffer& buffer) {
  for (std::int64_t i = 0; i < Buffer::padding; ++i) {
    if (buffer.data()[buffer.size() + i] != 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a buffer ends in readable zeros whatever is done to it") {
  Buffer buffer("abc");
  CHECK(is_padded(buffer));
  buffer.append(std::string(1000, 'x'));
  CHECK(is_padded(buffer));
  buffer.resize(500);
  CHECK(is_padded(buffer));
  CHECK(buffer.view().substr(0, 4) == "abcx");
  buffer.resize(700);
  CHECK(buffer.view().substr(499, 3) == std::string("x\0\0", 3));
  CHECK(is_padded(buffer));
  buffer.reserve(1 << 20);
  CHECK(buffer.capacity() >= 1 << 20);
  CHECK(is_padded(buffer));
  const Buffer moved = std::move(buffer);
  CHECK(moved.size() == 700);
  CHECK(buffer.size() == 0);
  buffer.append("abc");  // what was moved from is an empty buffer
  CHECK(buffer.view() == "abc");
  CHECK(is_padded(buffer));
  Buffer empty;
  empty.append("");
  CHECK(is_padded(empty));
}

TEST_CASE("a null is counted once and holds zeros, until it is undone") {
  TableBuilder builder(stock_schema);
  const Table& table = builder.table();
  builder.reserve(100);
  const int field = stock_schema["companyname"];
  builder.cells<TextView>(field)[70] = TextView::make_inline("something");
  builder.set_null(field, 70);
  builder.set_null(field, 70);
  CHECK(table.column(field).nulls == 1);
  CHECK_FALSE(table.valid(field, 70));
  CHECK(table.valid(field, 69));
  CHECK(table.text(field, 70).empty());
  builder.unset_null(field, 70);
  builder.unset_null(field, 70);
  CHECK(table.column(field).nulls == 0);
  CHECK(table.valid(field, 70));
}

TEST_CASE("rows from any to any become null at once, those that were too count once") {
  for (const std::int64_t first : {0, 1, 63, 64, 70}) {
    for (const std::int64_t count : {0, 1, 2, 58, 64, 130}) {
      TableBuilder builder(stock_schema);
      const Table& table = builder.table();
      builder.reserve(200);
      const int field = stock_schema["companyname"];
      std::fill_n(builder.cells<TextView>(field), 200, TextView::make_inline("something"));
      builder.set_null(field, 65);
      builder.set_nulls(field, first, count);
      const bool has_65 = first <= 65 && 65 < first + count;
      CHECK(table.column(field).nulls == count + (has_65 ? 0 : 1));
      for (std::int64_t row = 0; row < 200; ++row) {
        const bool is_null = (first <= row && row < first + count) || row == 65;
        CHECK(table.valid(field, row) == !is_null);
        CHECK(table.text(field, row) == (is_null ? "" : "something"));
      }
    }
  }
}

TEST_CASE("texts stay where they are while others are kept") {
  TableBuilder builder(stock_schema);
  const Table& table = builder.table();
  const std::string text(100'000, 'x');
  std::vector<TextView> views;
  for (int i = 0; i < 100; ++i) views.push_back(builder.keep_text(std::to_string(i) + text));
  views.push_back(builder.keep_text(std::string(30 << 20, 'y')));
  views.push_back(builder.keep_text(text));
  CHECK(table.buffers().size() < 10);
  for (std::size_t i = 0; i < 100; ++i) CHECK(table.text(views[i]) == std::to_string(i) + text);
  CHECK(table.text(views[100]) == std::string(30 << 20, 'y'));
  CHECK(table.text(views[101]) == text);
}

TEST_CASE("a text whose size 32 bits do not hold is refused") {
  TableBuilder builder(stock_schema);
  const Table& table = builder.table();
  const std::string_view text("never read", std::size_t{1} << 31);
  CHECK_THROWS_AS(builder.keep_text(text), std::length_error);
  CHECK_THROWS_AS(builder.keep_bytes(text), std::length_error);
  CHECK(table.buffers().empty());
}

// What a table gives out, nobody can write to: the values of a column, its bitmap, and its bytes.
template <typename T>
concept Writable =
    requires(T& table) { table.reserve(1); } || requires(T& table) { table.set_null(0, 0); } ||
    requires(T& table) { *table.column(0).values = std::byte{}; } ||
    requires(T& table) { *table.column(0).validity = 0; } ||
    requires(T& table) { table.buffers().clear(); } ||
    requires(T& table) { table.issues().clear(); } ||
    requires(T& table) { *table.buffers().front().data() = 0; };
static_assert(!Writable<Table>);
static_assert(!std::is_copy_constructible_v<TableBuilder>);
template <typename T>
concept BuildsTwice = requires(T& builder) { builder.build(); };
static_assert(!BuildsTwice<TableBuilder>);
