// The calendar of 9,999 years and the clock, byte by byte; the other forms are compared with
// Python.
#include <doctest/doctest.h>

#include <string>

#include "base/text.hpp"
#include "base/time.hpp"

using namespace tradingdata;
using namespace std::chrono_literals;

namespace {

TimeFit timestamp_fit(std::string_view text) {
  Timestamp time;
  return parse_timestamp(text, time);
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
