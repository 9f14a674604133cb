// JSON numbers beyond what the comparison with Python in tests/records/test_decoding.py draws.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

#include "base/memory.hpp"
#include "base/number.hpp"

using namespace tradingdata;

namespace {

std::optional<std::int64_t> integer(const std::string& literal) {
  return integer_of(scan_number(literal.c_str()));
}

NumberFit fit(const std::string& literal, double& value) {
  return double_of(scan_number(literal.c_str()), literal, value);
}

double number(const std::string& literal) {
  double value = NAN;
  CHECK(fit(literal, value) == NumberFit::exact);
  return value;
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

std::string random_digits(std::mt19937_64& random, std::size_t count) {
  std::string text;
  while (text.size() < count) text += static_cast<char>('0' + random() % 10);
  return text;
}

}  // namespace

TEST_CASE("an exponent of many digits does not come back as a small one") {
  // Two million zeros and an exponent that takes them all back but for what it says in excess.
  const std::string zeros = "0." + std::string(2'000'000, '0');
  double value = 0;
  CHECK(fit(zeros + "1e20000000", value) == NumberFit::out_of_range);
  CHECK(number(zeros + "1e2000001") == 1);
  CHECK_FALSE(integer(zeros + "1e20000001"));
  CHECK(integer(zeros + "1e2000001") == 1);
}

// The tests in Python compare these too, but never run the build without from_chars for doubles.
TEST_CASE("halfway cases are rounded as strtod rounds them") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    // The exact middle between two neighbours, to 60 digits, and a hair beside it.
    const double low = std::bit_cast<double>(0x3FF0000000000000 + random() % (1ULL << 58));
    const long double middle = (static_cast<long double>(low) + std::nextafter(low, INFINITY)) / 2;
    char text[512];
    std::snprintf(text, sizeof text, "%.60Lf", middle);
    for (const std::string& literal : {std::string(text) + "e0", std::string(text) + "1"}) {
      if (!same_bits(number(literal), std::strtod(literal.c_str(), nullptr))) FAIL(literal);
    }
  }
}

TEST_CASE("the short path reads what the long path reads, or leaves it to that") {
  std::mt19937_64 random(3);
  int read = 0;
  for (int i = 0; i < 300'000; ++i) {
    std::string literal = random() % 10 == 0 ? "-" : "";
    literal += random_digits(random, random() % 11);
    if (random() % 3 != 0) literal += "." + random_digits(random, random() % 11);
    if (random() % 10 == 0) literal += "e" + random_digits(random, random() % 3);
    constexpr std::string_view behind = ",}]. \n\"xe/:";
    const Buffer buffer(literal + behind[random() % behind.size()] + "123");
    const detail::ShortNumber found = detail::scan_short_number(buffer.data());
    if (found.end == nullptr) continue;
    ++read;
    const NumberScan scan = scan_number(buffer.data());
    double value = 0;
    if (scan.end != found.end) FAIL(buffer.view());
    CHECK(double_of(scan, {buffer.data(), static_cast<std::size_t>(scan.end - buffer.data())},
                    value) == NumberFit::exact);
    if (!same_bits(value, detail::value_of(found))) FAIL(buffer.view());
    CHECK(scan.integral == (found.decimals == 0));
  }
  CHECK(read > 100'000);
  for (std::string usual :
       {"0", "7", "1501", "1501.05", "0.05", "12.5", "12345678.12345", "99999999"}) {
    CHECK(detail::scan_short_number(Buffer(usual + ",").data()).end != nullptr);
  }
}
