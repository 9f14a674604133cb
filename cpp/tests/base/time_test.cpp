// Timestamps and dates: every accepted form, and the calendar of 9,999 years.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "base/text.hpp"
#include "base/time.hpp"
#include "support/cases.hpp"

using namespace tradingdata;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t moment = 1'795'169'045'000'000;  // 2026-11-20 10:04:05

TimeFit timestamp_fit(std::string_view text) {
  Timestamp time;
  return parse_timestamp(text, time);
}

TimeFit date_fit(std::string_view text) {
  std::int32_t days = 0;
  return parse_date(text, days);
}

std::int64_t micros_of(std::string_view text) {
  Timestamp time;
  parse_timestamp(text, time);
  return time.micros;
}

}  // namespace

TEST_CASE("every day of the years 1 to 9999 has a name, and is read from it") {
  std::int32_t days = zero_date;
  CHECK(days == -719'162);
  CHECK(days_since_epoch(1970y / 1 / 1) == 0);
  CHECK(days_since_epoch(9999y / 12 / 31) == 2'932'896);
  std::string previous = "0001-01-00";
  for (; days <= 2'932'896; ++days) {
    const std::string text = format_date(days);
    std::int32_t read = 0;
    const TimeFit fit = parse_date(text, read);
    const bool first = text == "0001-01-01";
    if (text <= previous || read != days || fit != (first ? TimeFit::zero : TimeFit::documented))
      FAIL(text);
    previous = text;
  }
}

TEST_CASE("a timestamp is read as documented, and with a T or a fraction") {
  CHECK(timestamp_fit("2026-11-20 10:04:05") == TimeFit::documented);
  CHECK(micros_of("2026-11-20 10:04:05") == moment);
  CHECK(format_timestamp(moment) == "2026-11-20 10:04:05");
  CHECK(timestamp_fit("2026-11-20T10:04:05") == TimeFit::other_form);
  CHECK(micros_of("2026-11-20T10:04:05") == moment);
  CHECK(timestamp_fit("2026-11-20 10:04:05.25") == TimeFit::other_form);
  CHECK(micros_of("2026-11-20 10:04:05.25") == moment + 250'000);
  CHECK(format_timestamp(moment + 250'000) == "2026-11-20 10:04:05.250000");
  CHECK(micros_of("2026-11-20 10:04:05.000001") == moment + 1);
  CHECK(micros_of("2026-11-20 10:04:05.1234560000") == moment + 123'456);
  CHECK(micros_of("1969-12-31 23:59:59.5") == -500'000);
  CHECK(format_timestamp(-500'000) == "1969-12-31 23:59:59.500000");
  CHECK(micros_of("2024-02-29 00:00:00") == 1'709'164'800'000'000);
}

TEST_CASE("a time with an offset or finer than a microsecond keeps what a column can hold") {
  const auto read = [](std::string_view text) {
    Timestamp time;
    CHECK(parse_timestamp(text, time) == TimeFit::other_form);
    CHECK(time.micros / micros_per_second == moment / micros_per_second);
    return time;
  };
  const std::pair<std::string, int> zones[] = {{"Z", 0},         {"+00:00", 0},   {"-00", 0},
                                               {"+05:30", 330},  {"+0530", 330},  {"+05", 300},
                                               {"-12:45", -765}, {"+23:59", 1439}};
  for (const auto& [zone, minutes] : zones) {
    const std::string& suffix = zone;  // clang 14 captures no structured binding
    CAPTURE(suffix);
    CHECK(read("2026-11-20 10:04:05" + suffix).offset == minutes);
    const Timestamp time = read("2026-11-20T10:04:05.1234567" + suffix);
    CHECK(time.offset == minutes);
    CHECK(time.cut);
    CHECK(time.micros == moment + 123'456);
  }
  CHECK_FALSE(read("2026-11-20 10:04:05.9999990000").cut);
  CHECK(read("2026-11-20 10:04:05.99999999999999999999").micros == moment + 999'999);
}

TEST_CASE("the zero date is no time, with midnight behind it or not") {
  for (std::string zero : {"0001-01-01", "0001-01-01 00:00:00", "0001-01-01T00:00:00",
                           "0001-01-01 00:00:00.000", "0001-01-01T00:00:00Z"}) {
    CHECK(timestamp_fit(zero) == TimeFit::zero);
    CHECK(date_fit(zero) == TimeFit::zero);
  }
}

TEST_CASE("what is no time of the wall clock is not read as one") {
  for (const std::string& bad :
       cases("|0000-00-00 00:00:00|0000-00-00|2026-11-20|2026-11-20 24:00:00|2026-11-20 10:60:00|"
             "2026-11-20 10:04:60|2026-02-29 10:04:05|2026-13-01 10:04:05|2026-00-01 10:04:05|"
             "2026-11-31 10:04:05|2026-11-00 10:04:05|2026-11-20 10:04|2026-11-20 10:04:05.|"
             "2026-11-20 10:04:05.Z|2026-11-20 10:04:05z|2026-11-20 10:04:05ZZ|"
             "2026-11-20 10:04:05 Z|2026-11-20 10:04:05+|2026-11-20 10:04:05+5|"
             "2026-11-20 10:04:05+5:30|2026-11-20 10:04:05+05:3|2026-11-20 10:04:05+05:30:00|"
             "2026-11-20 10:04:05+05-30|2026-11-20 10:04:05+24:00|2026-11-20 10:04:05+05:60|"
             "2026-11-20 10:04:05 IST|2026-11-20 10:04:05.12x|2026-11-20 10:04:05 |"
             " 2026-11-20 10:04:05|2026/11/20 10:04:05|20-11-2026 10:04:05|2026-11-20_10:04:05|"
             "2026-1-20 10:04:055|NA|0001-01-01 24:00:00|0001-01-01 23:59:59|"
             "0001-01-01 00:00:00.0000001|+026-11-20 10:04:05")) {
    CAPTURE(bad);
    CHECK(timestamp_fit(bad) == TimeFit::unreadable);
  }
}

TEST_CASE("a date is read as documented, and with midnight behind it") {
  std::int32_t days = 0;
  CHECK(parse_date("2026-11-27", days) == TimeFit::documented);
  CHECK(days == 20784);
  CHECK(parse_date("2026-11-27 00:00:00", days) == TimeFit::other_form);
  CHECK(days == 20784);
  CHECK(parse_date("2026-11-27T00:00:00.000", days) == TimeFit::other_form);
  CHECK(parse_date("2026-11-27T00:00:00Z", days) == TimeFit::other_form);
  CHECK(parse_date("2026-11-27 00:00:00+05:30", days) == TimeFit::other_form);
  CHECK(days == 20784);
  for (std::string bad :
       {"", "2026-11-27 00:00:01", "2026-11-27 00:00:00.0000001", "2026-11-27 ", "2026-11-7",
        "27-11-2026", "2026-02-30", "0000-00-00", "20261127", "2026-11-277", "2100-02-29"}) {
    CAPTURE(bad);
    CHECK(date_fit(bad) == TimeFit::unreadable);
  }
  CHECK(date_fit("2000-02-29") == TimeFit::documented);
}

namespace {

// Two digits as a number below `limit`; -1 for other text.
int two_digits(const std::string& text, std::size_t at, int limit) {
  const bool digits = is_digit(text[at]) && is_digit(text[at + 1]);
  const int value = digits ? (text[at] - '0') * 10 + text[at + 1] - '0' : -1;
  return value < limit ? value : -1;
}

}  // namespace

TEST_CASE("the quick clock reads every second of a day, and nothing else") {
  for (int second = 0; second < 86'400; ++second) {
    const std::string text = format_timestamp(second * micros_per_second).substr(11);
    if (detail::clock_seconds(text.c_str()) != second) FAIL(text);
  }
  for (std::size_t at = 0; at < 8; ++at) {
    for (int byte = 0; byte < 0x100; ++byte) {
      std::string text = "19:59:39";
      text[at] = static_cast<char>(byte);
      const bool good = text[2] == ':' && text[5] == ':' && two_digits(text, 0, 24) >= 0 &&
                        two_digits(text, 3, 60) >= 0 && two_digits(text, 6, 60) >= 0;
      CHECK((detail::clock_seconds(text.c_str()) >= 0) == good);
      CHECK((timestamp_fit("2026-11-20 " + text) == TimeFit::documented) == good);
    }
  }
}

TEST_CASE("a day is read where the calendar has it") {
  const auto check = [](const std::string& text) {
    CAPTURE(text);
    const int century = two_digits(text, 0, 100);
    const int year = two_digits(text, 2, 100);
    const int month = two_digits(text, 5, 100);
    const int day = two_digits(text, 8, 100);
    std::optional<std::int32_t> expected;
    const bool numbers = century >= 0 && year >= 0 && month >= 0 && day >= 0;
    if (numbers && century + year > 0 && text[4] == '-' && text[7] == '-') {
      const std::chrono::year_month_day date{std::chrono::year(century * 100 + year),
                                             std::chrono::month(static_cast<unsigned>(month)),
                                             std::chrono::day(static_cast<unsigned>(day))};
      if (date.ok()) expected = days_since_epoch(date);
    }
    std::int32_t days = 0;
    CHECK(detail::read_day(text.c_str(), days) == expected.has_value());
    CHECK(days == expected.value_or(0));
  };
  for (std::int32_t day = zero_date; day < 2'900'000; day += 29) check(format_date(day));
  for (const char* text : {"2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "2026-04-31",
                           "2026-00-10", "2026-13-10", "2026-01-00", "2026-01-32", "0000-01-01",
                           "0001-01-01", "0001-01-02", "9999-12-31", "99999-1-31"}) {
    check(text);
  }
  for (std::size_t at = 0; at < 10; ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = "2026-11-20";
      text[at] = static_cast<char>(byte);
      check(text);
    }
  }
}
