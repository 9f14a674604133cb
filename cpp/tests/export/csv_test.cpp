// CSV cells: quoting, numbers, times and protection from spreadsheets.
#include "export/csv.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "support/cases.hpp"
#include "table/table.hpp"

using namespace tradingdata;

namespace {

constexpr std::array sample_fields{
    Field{"label", Kind::text, "Text"},       Field{"count", Kind::integer, "An integer"},
    Field{"price", Kind::number, "A number"}, Field{"at", Kind::timestamp, "A time"},
    Field{"day", Kind::date, "A date"},
};
constexpr Schema sample{"Sample", sample_fields};

TableBuilder row_to_fill() {
  TableBuilder row(sample);
  row.reserve(1);
  for (int field = 0; field < sample.width(); ++field) row.set_null(field, 0);
  row.set_rows(1);
  return row;
}

template <typename T>
void set(TableBuilder& row, std::string_view field, const T& value) {
  *row.cells<T>(sample.find(field)) = value;
  row.unset_null(sample.find(field), 0);
}

// Columns of the first rows of a table that outlives them.
Rows rows_of(const Table& table, std::int64_t count, std::vector<int> columns) {
  return {.table = {TablePtr(), &table}, .stop = count, .columns = std::move(columns)};
}

// The only row's line, of one column.
std::string only_cell(const Table& table, std::string_view field, bool spreadsheet = false) {
  const std::string csv = rows_as_csv(rows_of(table, 1, {sample.find(field)}), spreadsheet);
  const std::size_t from = csv.find('\n') + 1;
  return csv.substr(from, csv.find_last_not_of("\r\n") + 1 - from);
}

std::string text_cell(std::string_view text, bool spreadsheet = false) {
  TableBuilder row = row_to_fill();
  set(row, "label", row.keep_text(text));
  return only_cell(row.table(), "label", spreadsheet);
}

std::string number_cell(double value) {
  TableBuilder row = row_to_fill();
  set(row, "price", value);
  return only_cell(row.table(), "price");
}

}  // namespace

TEST_CASE("a line of names comes first, and no value is nothing at all, but never a blank line") {
  const TablePtr table = row_to_fill().build();
  CHECK(rows_as_csv(rows_of(*table, 1, {0, 1, 2, 3, 4}), false) ==
        "label,count,price,at,day\n,,,,\n");
  CHECK(rows_as_csv(rows_of(*table, 0, {4, 0}), false) == "day,label\n");
  CHECK(rows_as_csv(rows_of(*table, 1, {0}), false) == "label\n\"\"\n");
  CHECK(rows_as_csv(rows_of(*table, 1, {0, 1}), true) == "\xEF\xBB\xBFlabel,count\r\n,\r\n");
}

TEST_CASE("text is quoted where a reader would split it, or take it for none") {
  CHECK(text_cell("") == "\"\"");
  CHECK(text_cell("plain text") == "plain text");
  CHECK(text_cell("a,b") == "\"a,b\"");
  CHECK(text_cell("say \"no\"") == "\"say \"\"no\"\"\"");
  CHECK(text_cell("two\nlines") == "\"two\nlines\"");
  CHECK(text_cell("=1+1") == "=1+1");
}

TEST_CASE("numbers read back as they were") {
  CHECK(number_cell(1501.05) == "1501.05");
  CHECK(number_cell(100000) == "100000.0");
  CHECK(number_cell(-0.0) == "-0.0");
  CHECK(number_cell(0.0001) == "0.0001");
  CHECK(number_cell(1e-5) == "1e-05");
  CHECK(number_cell(9007199254740992) == "9007199254740992.0");
  CHECK(number_cell(1.5e300) == "1.5e+300");
  TableBuilder row = row_to_fill();
  set(row, "count", std::int64_t{-9223372036854775807});
  CHECK(only_cell(row.table(), "count") == "-9223372036854775807");
}

TEST_CASE("times are written as by the service, with their offset where there is a zone") {
  TableBuilder row = row_to_fill();
  set(row, "at", std::int64_t{1736155800000000});
  CHECK(only_cell(row.table(), "at") == "2025-01-06 09:30:00");
  set(row, "day", std::int32_t{20094});
  CHECK(only_cell(row.table(), "day") == "2025-01-06");
  const auto with_offset = [&](std::int64_t seconds) {
    Rows rows = rows_of(row.table(), 1, {sample.find("at")});
    rows.offset = [=](std::int64_t) { return seconds * 1000000; };
    return rows_as_csv(rows, false);
  };
  CHECK(with_offset(19800) == "at\n2025-01-06 09:30:00+05:30\n");
  CHECK(with_offset(-12600) == "at\n2025-01-06 09:30:00-03:30\n");
  CHECK(with_offset(21208) == "at\n2025-01-06 09:30:00+05:53:28\n");
}

TEST_CASE("a spreadsheet runs no formula, and takes no text for another value") {
  CHECK(text_cell("=1+1", true) == "'=1+1");
  CHECK(text_cell("=HYPERLINK(\"x\",\"y\")", true) == "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"");
  for (const std::string& changed :
       cases("+1|-1|@SUM(A1)|\tx|＝1+1|5/10|1-2|1-2-2026|MAR1|mar 1|1-Mar|25MAR|DEC25|Sept 2026|"
             "2 March 2026|10:30|10:30 PM|9 a|1E5|1e5|12E45|1.5e-7|00123|1.50|007.5|.5|5.|1,234|"
             "50%|$5|(5)|₹500|1 1/2| 5|5 |TRUE|false|#N/A|123456789012345|1.00000000000001|"
             "2026-11-20|2026-11-20T10:04:05Z|1.2.2026")) {
    CAPTURE(changed);
    CHECK(text_cell(changed, true).find('\'') != std::string::npos);
    CHECK(text_cell(changed).find('\'') == std::string::npos);
  }
  for (const std::string& kept :
       cases("INFY|A1|E1|E5|T2|P5|NIFTY25MAR24500CE|INE009A01021|20 Microns Ltd|5PAISA|3M India|"
             "MARS1|12345|0|12.5|1501.05|12E|12 E5|12345678901234|BAJAJ-AUTO|truely|Market|Dec|"
             "N/A|M&M|S&P 500|a=1")) {
    CAPTURE(kept);
    CHECK(text_cell(kept, true) == kept);
  }
  CHECK(text_cell("", true) == "\"\"");
}
